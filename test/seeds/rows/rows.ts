import { CHOICES as manusxChoices } from './manusx-choices.ts';
import { ROWS as manusx } from './manusx.ts';
import { CHOICES as openseedChoices } from './openseed-choices.ts';
import { ROWS as openseed } from './openseed.ts';
import { CHOSEN_FOR_ALL, CHOSEN_FOR_CALLS, type SeedDocument } from './row.ts';
import { SKILLS_AGENT } from './skills-agent.ts';
import { ROWS as trpc } from './trpc-agent-go.ts';
import { CHOICES as trpcChoices } from './trpc-choices.ts';

/** Programs of all documents, against the packed package. */
const PACKED = 'test/package.system.test.ts';

/** The documents in the order of their numbers. */
export const SEEDS: readonly SeedDocument[] = [
  {
    title: 'openseed (000)',
    page: 'vocabularies/openseed.md',
    tests: ['test/seeds/openseed.test.ts', PACKED],
    rows: openseed,
    choices: [...openseedChoices, ...CHOSEN_FOR_CALLS, ...CHOSEN_FOR_ALL],
  },
  SKILLS_AGENT,
  {
    title: 'trpc-agent-go (002)',
    page: 'vocabularies/trpc.md',
    tests: ['test/seeds/trpc.system.test.ts', PACKED],
    rows: trpc,
    choices: [...trpcChoices, ...CHOSEN_FOR_CALLS, ...CHOSEN_FOR_ALL],
  },
  {
    title: 'ManusX (003)',
    page: 'vocabularies/manusx.md',
    tests: ['test/seeds/manusx.test.ts', PACKED],
    rows: manusx,
    choices: [...manusxChoices, ...CHOSEN_FOR_CALLS, ...CHOSEN_FOR_ALL],
  },
];
