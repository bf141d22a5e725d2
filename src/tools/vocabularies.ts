import { invalidInput, nearest, quoted, type ServerTool, type Vocabulary } from '#core';
import { skillsAgent } from './actions.ts';
import { manusx } from './manusx.ts';
import { native } from './native.ts';
import { openseed } from './openseed.ts';
import { withServerTools } from './server-tools.ts';
import { trpc } from './trpc.ts';

/** Every vocabulary by name. To add one, add a file and a line here. */
export const VOCABULARIES = {
  skillwright: native,
  openseed,
  trpc,
  manusx,
  'skills-agent': skillsAgent,
} as const satisfies Readonly<Record<string, Vocabulary>>;

export type VocabularyName = keyof typeof VOCABULARIES;

export const VOCABULARY_NAMES: readonly VocabularyName[] = [
  'skillwright',
  'openseed',
  'trpc',
  'manusx',
  'skills-agent',
];

/** A built-in vocabulary by name, or the caller's own, with the tools of MCP servers. Denied tools are known and not offered. */
export function openVocabulary(
  wanted: string | Vocabulary,
  serverTools: readonly ServerTool[] = [],
  isDenied: (name: string) => boolean = () => false,
): Vocabulary {
  return withServerTools(findVocabulary(wanted), serverTools, isDenied);
}

function findVocabulary(wanted: string | Vocabulary): Vocabulary {
  if (typeof wanted !== 'string') return wanted;
  const all: Readonly<Record<string, Vocabulary>> = VOCABULARIES;
  const found = Object.hasOwn(all, wanted) ? all[wanted] : undefined;
  if (found !== undefined) return found;
  const near = nearest(wanted, VOCABULARY_NAMES);
  throw invalidInput(
    `unknown vocabulary ${quoted(wanted)}`,
    VOCABULARY_NAMES.join(', '),
    near.length > 0 ? `did you mean ${near.join(', ')}?` : `the vocabularies are ${VOCABULARY_NAMES.join(', ')}`,
  );
}
