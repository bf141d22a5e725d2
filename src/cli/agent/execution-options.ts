import type { ExecutionOptions } from '../../runtime/execution/execution.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** For a model: what it runs is asked about, unless a rule allows it. Whoever typed the command has said yes to nothing yet. */
export function modelPrograms(terminal: Terminal, executor?: ExecutionOptions['executor']): ExecutionOptions {
  return { ...tellTrial(terminal), opens: false, ...(executor === undefined ? {} : { executor }) };
}

/** Says to whoever waits why the first program of a day starts later than the others. */
export function tellTrial(terminal: Terminal): Pick<ExecutionOptions, 'onTrial'> {
  return {
    onTrial: (executor) => {
      const text = `trying out what ${executor} keeps from programs here: once a day, some seconds`;
      if (terminal.isInteractive) terminal.remark(terminal.style('dim', text));
    },
  };
}
