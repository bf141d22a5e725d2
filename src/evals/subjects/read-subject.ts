/** Reads the values of `--subject`. */
import type { SubjectAgent } from './subject.ts';
import { CLAUDE_CODE } from './agents/claude-code.ts';
import { CODEX } from './agents/codex.ts';
import { commandSubject } from './agents/command.ts';
import { GEMINI } from './agents/gemini.ts';
import { OPENCODE } from './agents/opencode.ts';
import { PI } from './agents/pi.ts';

export const SUBJECT_AGENTS: readonly SubjectAgent[] = [CLAUDE_CODE, CODEX, GEMINI, OPENCODE, PI];

/** The value that stands for the agent loop of Skillwright itself. */
export const OWN_LOOP = 'skillwright';

export type SubjectReading =
  /** Without an agent it is the own loop. */
  | { readonly type: 'subject'; readonly agent?: SubjectAgent; readonly model?: string }
  | { readonly type: 'unknown'; readonly name: string };

/** `NAME`, `NAME=MODEL`, or a command, which has a slash or a space. */
export function readSubject(word: string): SubjectReading {
  const [name = '', ...rest] = word.split('=');
  const model = rest.length === 0 || rest.join('=') === '' ? {} : { model: rest.join('=') };
  if (name === OWN_LOOP) return { type: 'subject', ...model };
  const agent = SUBJECT_AGENTS.find(({ id }) => id === name);
  if (agent !== undefined) return { type: 'subject', agent, ...model };
  if (!/[\s/]/.test(word.trim())) return { type: 'unknown', name: word };
  return { type: 'subject', agent: commandSubject(word) };
}
