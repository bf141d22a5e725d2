/** What Ctrl-C stops while an agent works: first the step or the message, then the program. */
import type { AgentOptions } from '#agent';
import { askStreams, choose } from '../terminal/ask.ts';

export interface Interrupts {
  readonly signal: AbortSignal;
  readonly release: () => void;
}

/** Until released, the first interrupt aborts this signal instead of the program; a second one reaches the program. */
export function takeInterrupts(process: NodeJS.Process, outer: AbortSignal): Interrupts {
  const controller = new AbortController();
  const { release } = divert(process, () => stop(controller));
  return { signal: AbortSignal.any([outer, controller.signal]), release };
}

type StepControl = NonNullable<AgentOptions['steps']>;

export interface StepInterrupts {
  readonly steps: StepControl;
  readonly release: () => void;
}

/**
 * Until released, an interrupt stops the current step and the user is asked whether the run goes on. An interrupt at the question, or
 * while no step is in progress, reaches the program.
 */
export function takeSteps(process: NodeJS.Process, outer: AbortSignal): StepInterrupts {
  let step = new AbortController();
  const { release, pass } = divert(process, () => stop(step));
  const steps: StepControl = {
    begin() {
      step = new AbortController();
      return step.signal;
    },
    async stopped() {
      const question = {
        text: 'stopped; Ctrl-C again ends the run',
        choices: [
          { key: 'c', about: 'continue the run', answer: true },
          { key: 'e', about: 'end the run', answer: false },
        ],
        otherwise: false,
      };
      const goesOn = await choose(askStreams(process), question, { signal: outer }).catch(() => false);
      if (!goesOn && !outer.aborted) pass();
    },
  };
  return { steps, release };
}

function stop(controller: AbortController): boolean {
  if (controller.signal.aborted) return false;
  controller.abort(new Error('stopped by the user'));
  return true;
}

/** Calls `take` for each interrupt; one that it does not take goes to the listeners that were there before. */
function divert(
  process: NodeJS.Process,
  take: () => boolean,
): { readonly release: () => void; readonly pass: () => void } {
  const others = process.listeners('SIGINT');
  const pass = (): void => {
    for (const other of others) other('SIGINT');
  };
  const onInterrupt = (): void => {
    if (!take()) pass();
  };
  process.removeAllListeners('SIGINT');
  process.on('SIGINT', onInterrupt);
  return {
    pass,
    release() {
      process.off('SIGINT', onInterrupt);
      for (const other of others) process.on('SIGINT', other);
    },
  };
}
