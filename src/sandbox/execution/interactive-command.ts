import { randomUUID } from 'node:crypto';

import {
  actionFailed,
  failure,
  isSkillError,
  type AttachedWorkspace,
  type Observation,
  type RunResult,
  type SkillEntry,
  type Action,
  type OfType,
} from '#core';
import { openInteractions } from '../interaction/interactions.ts';
import type { InteractionView } from '../interaction/interaction.ts';
import { limitReport, partsFor, type ExecutionCall, type ExecutionParts } from './parts.ts';
import type { SetAside } from '../mounts/set-aside.ts';
import { collectFor, failLeft, warnWithoutResult, type PreparedProgram } from './run-result.ts';
import { withRedaction } from './output-capture.ts';
import { openStreams, prepareProgram, teeOutput, toRunResult, type ProgramStreams } from './run-program.ts';

type InteractiveAction =
  | OfType<Action, 'start_command'>
  | OfType<Action, 'write_input'>
  | OfType<Action, 'poll_command'>
  | OfType<Action, 'kill_command'>;

/** Commands that keep running while the model does other things. */
export interface InteractiveCommands {
  perform(action: InteractiveAction, skill: SkillEntry | undefined, call: ExecutionCall): Promise<Observation>;
  close(): Promise<void>;
}

export function openInteractiveCommands(shared: ExecutionParts): InteractiveCommands {
  const interactions = openInteractions({ now: Date.now, newId: () => randomUUID().slice(0, 8) });
  const prepared = new Map<string, StartedProgram>();
  /** Of all programs: what was renamed when they ended, whether or not anyone asks for their results. */
  const endings = new Set<Promise<SetAside>>();

  const seen = async (
    action: 'start_command' | 'write_input' | 'poll_command',
    view: InteractionView,
    parts: ExecutionParts,
  ): Promise<OfType<Observation, 'command-seen'>> => {
    const started = prepared.get(view.sessionId);
    const result =
      view.end === undefined || started === undefined ? undefined : await collectResult(started, view, parts);
    return {
      type: 'command-seen',
      action,
      session: view.sessionId,
      status: view.status,
      output: view.output,
      offset: view.offset,
      nextOffset: view.nextOffset,
      exitCode: view.exitCode === undefined ? undefined : (result?.exit_code ?? view.exitCode),
      ...(view.interaction?.needsInput === true
        ? { question: { kind: view.interaction.kind, hint: view.interaction.hint } }
        : {}),
      ...(result === undefined || started === undefined
        ? {}
        : {
            result,
            limits: limitReport(started.program.spec.limits, started.program.workspace.attached.capabilities),
          }),
    };
  };

  return {
    async perform(action, skill, call) {
      const { yieldMs, pollLines } = action.type === 'kill_command' ? {} : action;
      const waiting = { yieldMs, pollLines, signal: call.signal };
      const parts = partsFor(shared, call);
      try {
        switch (action.type) {
          case 'start_command': {
            const program = await prepareProgram(action, skill, parts, call);
            if (program.type === 'refused') return actionFailed(action.type, program.failure);
            const streams = openStreams(program);
            let ending: Promise<SetAside> = Promise.resolve(NOTHING_LEFT);
            const attached = capturing(
              withRedaction(program.workspace.attached, program.redactor),
              streams,
              (ended) => {
                ending = ended.then(program.finish, program.finish);
                ending.catch(() => undefined);
                endings.add(ending);
              },
            );
            const terminal = action.terminal ?? false;
            const view = await interactions.start(attached, program.spec, { ...waiting, terminal });
            prepared.set(view.sessionId, { program: { ...program, finish: () => ending }, streams });
            return await seen(action.type, view, parts);
          }
          case 'write_input': {
            const { session, chars, submit } = action;
            return await seen(action.type, await interactions.write(session, { ...waiting, chars, submit }), parts);
          }
          case 'poll_command':
            return await seen(action.type, await interactions.write(action.session, waiting), parts);
          case 'kill_command': {
            const { type, session } = action;
            const status = await interactions.kill(session);
            const { warnings = [] } = (await prepared.get(session)?.program.finish()) ?? {};
            return { type: 'command-killed', action: type, session, status, ...(warnings.length > 0 && { warnings }) };
          }
        }
      } catch (error) {
        // An unknown session is reported to the model; other errors are thrown on.
        if (!isSkillError(error) || error.code !== 'input/invalid') throw error;
        return actionFailed(action.type, failure('command/unknown', error.message, { hint: error.hint }));
      }
    },
    async close() {
      await interactions.close();
      for (const ending of await Promise.all(endings)) warnWithoutResult(ending);
    },
  };
}

const NOTHING_LEFT: SetAside = { warnings: [], isLeft: false };

interface StartedProgram {
  readonly program: PreparedProgram;
  /** All that it printed. */
  readonly streams: ProgramStreams;
}

/** Stores what programs print, beside the lines that are shown. */
function capturing(
  attached: AttachedWorkspace,
  streams: ProgramStreams,
  onStarted: (ended: Promise<unknown>) => void,
): AttachedWorkspace {
  const start = attached.start?.bind(attached);
  if (start === undefined) return attached;
  const finish = (): void => {
    streams.stdout.finish();
    streams.stderr.finish();
  };
  return {
    ...attached,
    async start(spec, { stdout, stderr, ...mode }) {
      const sinks = { stdout, stderr };
      try {
        const tee = teeOutput(streams, (name, chunk) => sinks[name].write(chunk));
        const running = await start(spec, { ...mode, ...tee });
        running.ended.then(finish, finish);
        onStarted(running.ended);
        return running;
      } catch (error) {
        finish();
        throw error;
      }
    },
  };
}

async function collectResult(
  { program, streams }: StartedProgram,
  { end, warnings: ownWarnings }: InteractionView,
  parts: ExecutionParts,
): Promise<RunResult | undefined> {
  if (end === undefined) return undefined;
  const { warnings: written, isLeft } = await program.finish();
  const collected = await collectFor(program, end, parts);
  const warnings = [...program.warnings, ...(await program.missing()), ...ownWarnings, ...written];
  const [stdout, stderr] = [streams.stdout.finish(), streams.stderr.finish()];
  return toRunResult({ ...program, warnings }, parts, { end: failLeft(end, isLeft), stdout, stderr, collected });
}
