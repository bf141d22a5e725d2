import { countText, isForModel, printable } from '#core';
import type { SkillIndex } from '#skills';
import type { Distrust } from './skill-trust.ts';

const SHOWN_ROOTS = 5;

/** Why a model is offered no skill, on one line and with what to do; undefined if it is offered one. */
export function explainEmpty(index: SkillIndex, untrusted: ReadonlyMap<string, unknown>): string | undefined {
  const { skills, report } = index;
  const known = skills.filter(({ state }) => isForModel(state));
  if (known.some(({ dir }) => !untrusted.has(dir))) return undefined;
  const hidden = skills.length - known.length;
  const reasons = [
    ...(known.length === 0 ? [] : [untrustedText(known.flatMap(({ dir }) => untrusted.get(dir) ?? []))]),
    ...(hidden === 0 ? [] : [`${hiddenText(hidden)}: skillwright catalog --explain`]),
    ...(report.leftOut.length === 0
      ? []
      : [`${countText(report.leftOut.length, 'folder')} left out as invalid: skillwright check`]),
  ];
  if (reasons.length > 0) return reasons.join('; ');
  const searched = report.roots.slice(0, SHOWN_ROOTS).map(({ path, status }) => `${printable(path)} (${status})`);
  const more = report.roots.length > SHOWN_ROOTS ? ` and ${String(report.roots.length - SHOWN_ROOTS)} more` : '';
  return searched.length === 0 ? 'no folder is searched for skills' : `no skill is in ${searched.join(', ')}${more}`;
}

/** Callers that leave skills out for another reason pass no command. */
function untrustedText(distrusts: readonly unknown[]): string {
  const commands = new Set(distrusts.flatMap((one) => (isDistrust(one) ? [one.command] : [])));
  const what = `${countText(distrusts.length, 'skill')} ${distrusts.length === 1 ? 'is' : 'are'}`;
  return commands.size === 0
    ? `${what} left out`
    : `${what} untrusted; review, then run: ${printable([...commands].join(', '))}`;
}

function hiddenText(count: number): string {
  return `${countText(count, 'skill')} ${count === 1 ? 'is' : 'are'} not for models`;
}

function isDistrust(value: unknown): value is Distrust {
  return typeof value === 'object' && value !== null && 'command' in value;
}
