import type { ExecutionOptions } from '#runtime';
import type { SkillError } from '#core';
import { reportWarning, type Terminal } from '../terminal/terminal.ts';

/** Program execution for a model: every program needs approval, unless a policy rule allows it. */
export function modelExecution(terminal: Terminal, executor?: ExecutionOptions['executor']): ExecutionOptions {
  const onRestriction = (restriction: SkillError): void => {
    reportWarning(terminal, `only scripts of built-in skills run here: ${restriction.message}`);
    terminal.err(terminal.style('dim', `hint: ${restriction.hint}`));
  };
  return {
    ...commandExecution(terminal),
    onRestriction,
    onUnmounted: ({ message }) => reportWarning(terminal, `programs do not see the project: ${message}`),
    askWeaker: weakerQuestion(terminal),
    opens: false,
    executor,
  };
}

/** Loaded only where nothing else isolates. */
export function weakerQuestion(terminal: Terminal): NonNullable<ExecutionOptions['askWeaker']> {
  return async () => {
    const { askForWeaker } = await import('./weaker-question.ts');
    return await askForWeaker(terminal);
  };
}

/** What every command that runs programs has in common. Tells the user why the first program of a day starts later than the others. */
export function commandExecution(terminal: Terminal): Pick<ExecutionOptions, 'onTrial' | 'runsBuiltIn'> {
  return {
    runsBuiltIn: true,
    onTrial: (executor) => {
      const text = `testing the isolation of ${executor}; this takes some seconds once a day`;
      if (terminal.isInteractive) terminal.remark(terminal.style('dim', text));
    },
  };
}
