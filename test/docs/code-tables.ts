/** What events and errors mean, for the reference pages. The compiler requires an entry for every one of them. */
import type { SkillErrorCode } from '../../src/core/errors.ts';
import type { RunEvent } from '../../src/core/run-events.ts';
import type { SessionEvent } from '../../src/core/session.ts';
import type { ChainProblem } from '../../src/journal/verify-chain.ts';

export const RUN_EVENTS: Readonly<Record<RunEvent['type'], string>> = {
  'run-start': 'The run begins: request, version, skills, policy, executor, budgets, and what it resumes.',
  scan: 'The report of the scan that found the skills.',
  action: 'An action was requested by a model, a person or a program.',
  decision: 'What the policy decided, with the rule and its origin.',
  'approval-ask': 'A person is asked.',
  'approval-answer': 'The answer, or that there was no person to ask.',
  'skill-use': 'The exact skill that an action used, by digest.',
  observation: 'The result of an action.',
  session: 'An event of the session; see below.',
  span: 'A timed step of the workspace.',
  'content-keep': 'A file was stored in the run folder: content, or with `name` a file that programs left.',
  turn: 'The agent begins a turn.',
  'model-call': 'A request to the model, by its SHA-256 and estimated size.',
  'model-answer': 'The answer of the model, its tool calls and usage.',
  plan: 'The plan changed.',
  activation: 'Why a skill was offered or loaded.',
  'answer-delta': 'A streamed part of the answer; sent to sinks, not recorded.',
  'decision-delta':
    'The action, the goal or a step that the model has decided on, while the rest arrives; sent to sinks, not recorded.',
  'tool.response':
    'The result of a tool call, in the vocabulary `trpc`, with the session keys that it changed; sent to sinks, not recorded.',
  'answer-withdraw': 'Streamed text turned out not to be the answer.',
  'call-invalid': 'A tool call that became no action: an unknown tool or an invalid input.',
  'context-compact': 'The conversation was shortened.',
  'budget-end': 'A budget is exhausted.',
  'subagent-start': 'A child agent starts.',
  'subagent-end': 'A child agent ended.',
  chat: 'A message, an answer, an undo, or what a resumed chat carries over.',
  'subject-call': 'A tool call of another agent in an evaluation, as its transcript reports it.',
  'subject-end': 'How another agent ended, and the files it changed.',
  note: 'A remark for the reader.',
  'run-end': 'The outcome and its reason.',
};

export const SESSION_EVENTS: Readonly<Record<SessionEvent['type'], string>> = {
  'session-start': 'Settings and index of the session.',
  'turn-start': 'The user speaks again.',
  'request-start': 'A request to the model, with the skill text in its system message.',
  'skill-load': 'The instructions of a skill were shown.',
  'skill-repeat': 'The same instructions were requested while they were active; a note was sent.',
  'documents-select': 'Documents of a skill were selected.',
  'content-show': 'Text of a skill was shown; the ledger counts it.',
  'action-end': 'An action succeeded.',
  'action-fail': 'An action failed, with its code.',
  'session-compact': 'The conversation was shortened; the named skills remain.',
};

/** Errors that functions throw and commands print. */
export const ERROR_CODES: Readonly<Record<SkillErrorCode, string>> = {
  'skill/unknown': 'no skill has this name; `nearest` lists similar ones',
  'skill/invalid': 'the skill cannot be loaded; run `skillwright check`',
  'root/unknown': 'no root has this source name',
  'config/invalid': 'the configuration is invalid; `skillwright config` shows where',
  'input/invalid': 'an argument is wrong; `expected` says what is accepted',
  'io/failed': 'a file could not be read or written',
  'io/exists': 'the target exists already',
  'executor/unavailable': 'no executor can run programs as requested; `install` is the command that changes it',
  'executor/failed': 'the executor broke while it ran a program',
  'workspace/invalid': 'the folder is not a workspace',
  'record/failed': 'an event could not be recorded, so the run stopped',
  'run/unknown': 'no run has this id; see `skillwright runs list`',
  'policy/refused': 'a rule denies it, or a person must approve it first; `command` approves it',
  'model/unavailable': 'the model cannot be called: missing key, server or provider',
  'model/failed': 'the model was called and returned no usable answer',
  'package/missing': 'an optional package is not installed; `install` is the command that installs it',
  'artifact/unknown': 'no artifact has this name',
  'run/invalid': 'the folder is not a run, or was written by a later version',
  'run/resumed':
    'another run already continues it; `problems` name what a second one may repeat; see `runs resume --again`',
};

export const CHAIN_CODES: Readonly<Record<ChainProblem['code'], string>> = {
  'chain/unreadable': 'a line of `chain.jsonl` cannot be parsed',
  'chain/edited': 'a line was changed or is missing',
  'chain/forged': 'a line, or what the home folder remembers of the chain, was not written with the key of this user',
  'chain/cut': 'lines at the end are gone, or were gone when the next line was written',
  'chain/missing': 'the whole file is gone, or was gone when the next run began',
  'chain/head-missing': 'the home folder no longer remembers the newest line',
  'chain/run-missing': 'an announced run is gone; after deleting it by hand, `skillwright runs prune --missing`',
  'chain/run-exchanged': 'the folder is not the announced run',
  'chain/run-unlisted': 'a run that the chain does not announce',
  'chain/run-returned': 'a removed run is back',
};
