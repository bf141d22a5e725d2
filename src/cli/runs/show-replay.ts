/** A replay as text. Recorded content is untrusted and escaped before it is printed. */
import { describeAction } from '../../core/action-text.ts';
import { printable } from '../../core/text/text.ts';
import type { Outline } from '../../runtime/replay/replay-outline.ts';
import type { Replay, ReplayStep } from '../../runtime/replay/replay-run.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** One line per step, with the differences below it. */
export function replayLines({ steps, problems, remarks }: Replay, { style }: Terminal): readonly string[] {
  return [
    ...problems.map((problem) => `${style('red', 'impossible')}: ${printable(problem)}`),
    ...remarks.map((remark) => `${style('yellow', 'note')}: ${printable(remark)}`),
    ...steps.flatMap((step) => {
      const verdict = step.same ? style('green', 'same') : style('red', 'different');
      const note = step.notRepeated === undefined ? '' : style('dim', ` (not repeated: ${step.notRepeated})`);
      const head = `#${String(step.call)} ${printable(describeAction(step.action))}: ${verdict}${note}`;
      return [head, ...(step.same ? [] : differences(step).map((line) => `   ${printable(line)}`))];
    }),
  ];
}

/** A summary of all steps. */
export function replaySummary({ status, steps, run }: Replay): string {
  const count = (isCounted: (step: ReplayStep) => boolean): string => String(steps.filter(isCounted).length);
  const counts = [
    `${count(({ same }) => same)} the same`,
    `${count(({ same }) => !same)} different`,
    `${count(({ notRepeated }) => notRepeated !== undefined)} not repeated`,
  ];
  const kept = run === undefined ? '' : `; recorded as ${run}`;
  return status === 'impossible' ? 'impossible: no action was repeated' : `${status}: ${counts.join(', ')}${kept}`;
}

function differences({ expected, got }: ReplayStep): readonly string[] {
  const [before, after] = [facts(expected), facts(got)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    const [was, is] = [before.get(name) ?? 'nothing', after.get(name) ?? 'nothing'];
    return was === is ? [] : [`${name}: was ${was}, is ${is}`];
  });
}

function facts({ effect, came, shown }: Outline): ReadonlyMap<string, string> {
  return new Map([['decision', effect ?? 'none'], ['result', came ?? 'none'], ...Object.entries(shown)]);
}
