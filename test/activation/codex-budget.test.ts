import { describe, expect, test } from 'vitest';

import { aliasCost, allocateCharacters, lineCost } from '../../src/activation/agents/codex-budget.ts';

const line = (name: string, description: string) => ({ name, description, locator: `r0/${name}/SKILL.md` });

describe('the budget of codex', () => {
  test('shows everything if it fits, then equal shares, then names, then fewer names', () => {
    const lines = [line('a', 'x'.repeat(40)), line('b', 'y'.repeat(40)), line('c', 'short')];
    const full = lines.reduce((sum, one) => sum + lineCost(one), 0);
    const least = lines.reduce((sum, one) => sum + lineCost({ ...one, description: '' }), 0);
    expect(allocateCharacters(lines, full)).toEqual([40, 40, 5]);
    expect(allocateCharacters(lines, full - 4)).toEqual([32, 32, 5]);
    expect(allocateCharacters(lines, least)).toEqual([0, 0, 0]);
    expect(allocateCharacters(lines, least - 1)).toEqual([0, 0, undefined]);
  });

  test('the table of aliases costs what the requests of the real program showed', () => {
    const home = '/tmp/measure/codex-100-2-project-1000/home/.codex/skills/.system';
    const project = '/tmp/measure/codex-100-2-project-1000/project/.agents/skills';
    const user = '/tmp/measure/codex-100-5-user-300/home/';
    expect(aliasCost([home, project])).toBe(2);
    expect(aliasCost([`${user}.agents/skills`, `${user}.codex/skills/.system`])).toBe(0);
  });
});
