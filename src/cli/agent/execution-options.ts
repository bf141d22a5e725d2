import type { ExecutionOptions } from '../../runtime/execution/execution.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Program execution for a model: every program needs approval, unless a policy rule allows it. */
export function modelExecution(terminal: Terminal, executor?: ExecutionOptions['executor']): ExecutionOptions {
  return { ...announceProbe(terminal), opens: false, ...(executor === undefined ? {} : { executor }) };
}

/** Tells the user why the first program of a day starts later than the others. */
export function announceProbe(terminal: Terminal): Pick<ExecutionOptions, 'onTrial'> {
  return {
    onTrial: (executor) => {
      const text = `testing the isolation of ${executor}; this takes some seconds once a day`;
      if (terminal.isInteractive) terminal.remark(terminal.style('dim', text));
    },
  };
}
