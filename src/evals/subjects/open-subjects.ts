/** The subjects of an evaluation: the own loop with a model, or other agents. */
import { quoted, type Model } from '#core';
import { readSurroundings } from '#runtime';
import { raiseUsage } from '../project/raise-usage.ts';
import type { SuiteModel } from '../run/case-model.ts';
import { CLAUDE_CODE } from './agents/claude-code.ts';
import { CODEX } from './agents/codex.ts';
import { commandSubject } from './agents/command.ts';
import { GEMINI } from './agents/gemini.ts';
import { OPENCODE } from './agents/opencode.ts';
import { PI } from './agents/pi.ts';
import { openSubject, type OpenSubject } from './open-subject.ts';
import { subjectName } from './subject-case.ts';
import type { SubjectAgent } from './subject.ts';

export const SUBJECT_AGENTS: readonly SubjectAgent[] = [CLAUDE_CODE, CODEX, GEMINI, OPENCODE, PI];

const OWN_LOOP = 'skillwright';

type SubjectReading =
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

export interface EvalSubject {
  readonly name: string;
  /** Absent if only cases with recorded answers run. */
  readonly model?: SuiteModel;
  /** Absent for the own loop. */
  readonly subject?: OpenSubject;
}

export interface SubjectChoice {
  /** Values of --subject; undefined for the own loop. */
  readonly subjects?: readonly string[];
  readonly subjectEnv?: readonly string[];
  /** The model of a subject that names none. */
  readonly model?: string;
  readonly openModel: (name: string) => Promise<Model>;
  readonly cassettes?: string;
  readonly updateCassettes: boolean;
  readonly signal: AbortSignal;
}

/** Opens the agents, or the own loop. A mistake of the user is reported before any agent is started. */
export async function openSubjects(choice: SubjectChoice): Promise<readonly EvalSubject[]> {
  const { subjects, subjectEnv: pass, signal } = choice;
  if (subjects === undefined) return [{ name: OWN_LOOP, model: await openSuiteModel(choice) }];
  if (choice.updateCassettes || choice.cassettes !== undefined)
    raiseUsage('cassettes hold answers of models, not of agents', 'omit --subject, or the cassettes');
  const { env } = readSurroundings({});
  const opened: EvalSubject[] = [];
  for (const { agent, model: name = choice.model } of subjects.map(readWord)) {
    if (agent === undefined) {
      const model = await openSuiteModel({ ...choice, model: name });
      opened.push({ name: `${OWN_LOOP}${model === undefined ? '' : ` (${model.id})`}`, model });
    } else {
      const subject = await openSubject({ agent, model: name, env, pass, signal });
      const open = (): never => {
        throw new TypeError('another agent brings its own model');
      };
      // Its model stands for that of the agent in plans and reports.
      opened.push({ name: subjectName(subject), subject, model: { way: 'live', id: subjectName(subject), open } });
    }
  }
  return opened;
}

/** Without a model, only cases with recorded answers run. */
async function openSuiteModel(choice: SubjectChoice): Promise<SuiteModel | undefined> {
  const { model: name, openModel, updateCassettes } = choice;
  if (name === undefined)
    return updateCassettes ? raiseUsage('--update-cassettes needs a model', 'pass --model NAME') : undefined;
  const model = await openModel(name);
  const { openRules } = await import('#model/rules');
  const isRules = model.id === openRules().id;
  return { way: isRules ? 'rules' : 'live', id: model.id, open: () => (isRules ? openRules() : model) };
}

function readWord(word: string): Exclude<SubjectReading, { type: 'unknown' }> {
  const reading = readSubject(word);
  if (reading.type === 'subject') return reading;
  const known = [...SUBJECT_AGENTS.map(({ id }) => id), OWN_LOOP].join(', ');
  raiseUsage(
    `unknown agent for --subject: ${quoted(reading.name, 200)}`,
    `known agents: ${known}; a command needs a path or an argument, such as ./agent`,
  );
}
