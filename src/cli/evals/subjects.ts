/** The subjects of an evaluation: the own loop with a model, or other agents. */
import { quoted } from '#core';
import {
  openSubject,
  OWN_LOOP,
  readSubject,
  SUBJECT_AGENTS,
  subjectName,
  type OpenSubject,
  type SuiteModel,
} from '#evals';
import { readSurroundings, type Runtime } from '#runtime';
import { UsageError } from '../exit.ts';
import type { EvalInvocation } from './flags.ts';
import { suiteModel } from './inputs.ts';

export interface EvalSubject {
  /** As reports name it. */
  readonly name: string;
  /** Absent if only cases with recorded answers run. */
  readonly model?: SuiteModel;
  /** Absent for the own loop. */
  readonly subject?: OpenSubject;
}

/** Opens the agents of --subject, or the own loop. Errors of the command line are reported before any agent is started. */
export async function openSubjects(invocation: EvalInvocation, runtime: Runtime): Promise<readonly EvalSubject[]> {
  const { flags, signal } = invocation;
  if (flags.subject === undefined) {
    const model = await suiteModel(invocation, runtime);
    return [{ name: OWN_LOOP, model }];
  }
  if (flags['update-cassettes'] === true || flags.cassettes !== undefined)
    throw new UsageError('cassettes hold answers of models, not of agents', 'omit --subject, or the cassettes');
  const read = flags.subject.map(readWord);
  const { env } = readSurroundings({});
  const opened: EvalSubject[] = [];
  for (const { agent, model: own } of read) {
    const name = own ?? flags.model;
    if (agent === undefined) {
      const model = await suiteModel(invocation, runtime, name);
      opened.push({ name: `${OWN_LOOP}${model === undefined ? '' : ` (${model.id})`}`, ...(model && { model }) });
    } else {
      const subject = await openSubject({ agent, model: name, env, pass: flags['subject-env'] ?? [], signal });
      opened.push({ name: subjectName(subject), subject, model: toSuiteModel(subject) });
    }
  }
  return opened;
}

function readWord(word: string): Exclude<ReturnType<typeof readSubject>, { type: 'unknown' }> {
  const reading = readSubject(word);
  if (reading.type === 'subject') return reading;
  const known = [...SUBJECT_AGENTS.map(({ id }) => id), OWN_LOOP].join(', ');
  throw new UsageError(
    `unknown agent for --subject: ${quoted(reading.name, 200)}`,
    `known agents: ${known}; a command needs a path or an argument, such as ./agent`,
  );
}

/** Stands for the model of the agent in plans and reports. */
function toSuiteModel(subject: OpenSubject): SuiteModel {
  return {
    way: 'live',
    id: subjectName(subject),
    open: () => {
      throw new TypeError('another agent brings its own model');
    },
  };
}

/** The program of the user may change between two evaluations, so its results are not cached. */
export function isCommand(subject: OpenSubject | undefined): boolean {
  return subject !== undefined && subject.agent.install === '';
}
