/** Hands the files that programs left to the user: to --out, to ./out after a question, or into the record with the command that copies them. */
import path from 'node:path';

import { SkillError, typedWord } from '#core';
import { deliverResults, type Run } from '#runtime';
import { askStreams, confirm } from '../terminal/ask.ts';
import type { Invocation, Option } from '../command.ts';
import { reportWarning } from '../terminal/terminal.ts';
import { isAttended, openApprover, withNextTicket, type APPROVAL_FLAGS } from './approval.ts';

type DeliveryInvocation = Invocation<typeof APPROVAL_FLAGS & { readonly out: Option }>;

export interface Delivery {
  readonly copied: readonly string[];
  /** Files in the record, and the command that copies them. */
  readonly kept: readonly { readonly name: string; readonly bytes: number }[];
  readonly fetch?: string;
  /** Lines for the user, apart from `copied`. */
  readonly lines: readonly string[];
  /** Why files that should be copied were not. */
  readonly problem?: SkillError;
}

export async function deliverOutputs(run: Run, invocation: DeliveryInvocation): Promise<Delivery> {
  const { flags, terminal, signal, words, surroundings } = invocation;
  const mayUse = async (folder: string, files: string): Promise<boolean> => {
    if (!isAttended() || flags.json === true) return false;
    if (flags.yes === true) return true;
    return confirm(askStreams(process), terminal.wrap(`Save ${files} to ${nearPath(folder)}?`), { signal });
  };
  const delivered = await deliverResults(run, {
    cwd: surroundings.cwd,
    out: flags.out,
    mayUse,
    approve: openApprover(invocation),
    signal,
  });
  const { copied, kept, uncopied, leftOut, problem, warning } = delivered;
  if (warning !== undefined) reportWarning(terminal, warning);
  const fetch =
    run.id === undefined || kept.length === 0
      ? undefined
      : toCommandLine(['runs', 'files', run.id, ...settingWords(flags), ...OUT_FLAG]);
  const redacted = kept.filter(({ isRedacted }) => isRedacted).map(({ name }) => name);
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  return {
    copied: copied.map(nearPath),
    kept: fetch === undefined ? [] : kept.map(({ name, bytes }) => ({ name, bytes })),
    fetch,
    lines: [
      ...(uncopied === undefined || fetch !== undefined
        ? []
        : [
            `not kept, because the run is not recorded: ${uncopied}`,
            `to get them, repeat: ${toCommandLine([...words.slice(0, end), ...OUT_FLAG, ...words.slice(end)])}`,
          ]),
      ...(uncopied === undefined || fetch === undefined ? [] : [`kept in the record: ${uncopied}`]),
      ...(redacted.length === 0
        ? []
        : [`without the secrets in: ${redacted.join(', ')} (--out copies files unchanged)`]),
      ...(fetch === undefined ? [] : [`copy with: ${fetch}`]),
      ...leftOut.map(
        ({ name, reason }) => `${terminal.style('yellow', 'warning')}: not kept or copied: ${name} (${reason})`,
      ),
    ],
    problem: problem && withTicket(problem),
  };
}

const OUT_FLAG = ['--out', 'out'];

function withTicket(problem: SkillError): SkillError {
  const { code, message, hint, data } = problem;
  return new SkillError({ code, message, hint: withNextTicket(hint), data, cause: problem });
}

function toCommandLine(words: readonly string[]): string {
  return ['skillwright', ...words].map(typedWord).join(' ');
}

/** Flags that decide where records are. */
function settingWords({ cwd, config, set }: DeliveryInvocation['flags']): readonly string[] {
  return Object.entries({ cwd, config, set }).flatMap(([name, value = []]) =>
    [value].flat().flatMap((one) => [`--${name}`, one]),
  );
}

/** The path as the user would type it here. */
export function nearPath(file: string): string {
  const relative = path.relative(process.cwd(), file);
  return relative === '' || relative.startsWith('..') || path.isAbsolute(relative) ? file : relative;
}
