import type { ExecutionOptions } from '../runtime/execution/execution.ts';
import type { Terminal } from './terminal.ts';

/** Says to whoever waits why the first program of a day starts later than the others. */
export function tellTrial(terminal: Terminal): Pick<ExecutionOptions, 'onTrial'> {
  return {
    onTrial: (executor) => {
      const text = `trying out what ${executor} keeps from programs here: once a day, some seconds`;
      if (terminal.isInteractive) terminal.remark(terminal.style('dim', text));
    },
  };
}
