/** The end of each answer, the same whether the skills were read or kept. */
import { requestHash, type HintRecord } from '../hint-record.ts';
import { hintText, type HintedSkill } from './hint-text.ts';
import type { Prompt } from './prompt.ts';
import { isLoaded, readCalls } from './session-calls.ts';

/** What an agent needs around a hint. `TEXT_SLOT` stands for the text in `answer`, and for the id of the session in `transcript`. */
export interface AnswerFrame {
  /** Its id. */
  readonly agent: string;
  /** JSON. */
  readonly answer: string;
  /** The file of a session, for an agent that does not name it in the input of the hook. */
  readonly transcript?: string;
}

export interface Answer {
  /** What the hook prints: JSON in the shape of the agent, or nothing. */
  readonly text: string;
  /** What is kept of it once it is printed; absent without a hint. */
  readonly hint?: HintRecord;
}

export const TEXT_SLOT = '%SKILLWRIGHT%';
export const SILENCE: Answer = { text: '' };

/** The answer with the skills that are not loaded in the session. */
export function composeAnswer(frame: AnswerFrame, prompt: Prompt, chosen: readonly HintedSkill[]): Answer {
  if (chosen.length === 0) return SILENCE;
  const { sessionId } = prompt;
  const own = sessionId === undefined ? undefined : frame.transcript?.replace(TEXT_SLOT, sessionId);
  const transcript = prompt.transcript ?? own;
  const calls = [...prompt.calls, ...(transcript === undefined ? [] : readCalls(transcript))];
  const { text, names } = hintText(chosen.filter((skill) => !isLoaded(skill, calls)));
  if (text === '') return SILENCE;
  return {
    text: frame.answer.replace(JSON.stringify(TEXT_SLOT), () => JSON.stringify(text)),
    hint: {
      time: new Date().toISOString(),
      agent: frame.agent,
      session: sessionId,
      request: requestHash(prompt.text),
      skills: names,
    },
  };
}
