/**
 * The parts of `run.json` that say what a run did: phases, tools, loaded files and programs. Derived from the events alone, which may
 * come from an untrusted folder.
 */
import { readField, toPhase, sliceStart, type RunEvent, type RunInfo } from '#core';

export type RunDetails = Pick<RunInfo, 'phases' | 'tools' | 'resources' | 'programs' | 'invalidCalls'>;

export const NO_DETAILS: RunDetails = { phases: [], tools: [], resources: [], programs: [], invalidCalls: 0 };

/** Further entries are only in the events. */
const MAX_ENTRIES = 1_000;
/** Characters of a command and of an output. */
const LONGEST_TEXT = 300;

export function addDetails(before: RunDetails, event: RunEvent): RunDetails {
  const info = withPhase(before, event);
  switch (event.type) {
    case 'action': {
      const program = readProgram(event.action);
      if (program === undefined || info.programs.length >= MAX_ENTRIES) return info;
      const started = { call: event.call, ...program, exitCode: null, reason: 'running', stdout: '', stderr: '' };
      return { ...info, programs: [...info.programs, started] };
    }
    case 'observation':
      return {
        ...info,
        tools: withTool(info.tools, event.observation),
        resources: withResources(info.resources, event.observation),
        programs: withEnd(info.programs, event.call, event.observation),
      };
    case 'call-invalid':
      return { ...info, invalidCalls: info.invalidCalls + 1 };
    default:
      return info;
  }
}

function withPhase(info: RunDetails, event: RunEvent): RunDetails {
  const phase = toPhase(event);
  if (phase === undefined || phase === info.phases.at(-1) || info.phases.length >= MAX_ENTRIES) return info;
  return { ...info, phases: [...info.phases, phase] };
}

type Program = RunDetails['programs'][number];

function readProgram(action: object): Pick<Program, 'tool' | 'skill' | 'program'> | undefined {
  const tool = textIn(action, 'type');
  if (tool !== 'run_script' && tool !== 'run_command' && tool !== 'start_command') return undefined;
  const skill = textIn(action, 'skill');
  const words = [textIn(action, tool === 'run_script' ? 'script' : 'command'), ...listIn(action, 'args').map(String)];
  return { tool, ...(skill === '' ? {} : { skill }), program: sliceStart(words.join(' '), LONGEST_TEXT) };
}

function withTool(tools: RunDetails['tools'], observation: object): RunDetails['tools'] {
  const tool = textIn(observation, 'action');
  const failed = textIn(observation, 'type') === 'failed' ? 1 : 0;
  const known = tools.find((one) => one.tool === tool);
  if (known === undefined) return tools.length < MAX_ENTRIES ? [...tools, { tool, calls: 1, failed }] : tools;
  return tools.map((one) => (one === known ? { tool, calls: one.calls + 1, failed: one.failed + failed } : one));
}

function withResources(resources: RunDetails['resources'], observation: object): RunDetails['resources'] {
  const skill = textIn(readField(observation, 'skill'), 'id');
  const reports =
    textIn(observation, 'type') === 'resource-read'
      ? [readField(observation, 'report')]
      : listIn(observation, 'documents').map((document) => readField(document, 'report'));
  const read = reports
    .map((report) => ({
      skill,
      path: textIn(report, 'path'),
      bytes: Number(readField(report, 'bytes') ?? 0),
      digest: textIn(report, 'digest'),
      truncated: readField(report, 'truncated') === true,
    }))
    .filter(({ path }) => !resources.some((one) => one.skill === skill && one.path === path));
  return read.length === 0 || resources.length >= MAX_ENTRIES ? resources : [...resources, ...read];
}

function withEnd(programs: RunDetails['programs'], call: number, observation: object): RunDetails['programs'] {
  const result = readField(observation, 'result');
  const isFailed = textIn(observation, 'type') === 'failed';
  if (!isFailed && result === undefined) return programs;
  const code = readField(result, 'exit_code');
  const end = {
    exitCode: typeof code === 'number' ? code : null,
    reason: isFailed ? textIn(observation, 'code') : textIn(result, 'reason'),
    stdout: sliceStart(textIn(result, 'stdout'), LONGEST_TEXT),
    stderr: sliceStart(textIn(result, 'stderr'), LONGEST_TEXT),
  };
  return programs.map((one) => (one.call === call ? { ...one, ...end } : one));
}

function textIn(value: unknown, name: string): string {
  const field = readField(value, name);
  return typeof field === 'string' ? field : '';
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const field = readField(value, name);
  return Array.isArray(field) ? field : [];
}
