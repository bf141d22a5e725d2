import { ROWS as manusx } from './manusx.ts';
import { ROWS as openseed } from './openseed.ts';
import type { SeedRow } from './row.ts';
import { ROWS as trpc } from './trpc-agent-go.ts';

export interface SeedDocument {
  readonly title: string;
  /** The page of its vocabulary, from docs/. */
  readonly page: string;
  readonly rows: readonly SeedRow[];
}

/** The documents in the order of their numbers. */
export const SEEDS: readonly SeedDocument[] = [
  { title: 'openseed (000)', page: 'vocabularies/openseed.md', rows: openseed },
  { title: 'trpc-agent-go (002)', page: 'vocabularies/trpc.md', rows: trpc },
  { title: 'ManusX (003)', page: 'vocabularies/manusx.md', rows: manusx },
];
