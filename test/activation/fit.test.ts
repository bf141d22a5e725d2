import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { explainSkills } from '../../src/activation/why.ts';
import { planFit, undoFit, type FitPlan } from '../../src/activation/shelf/fit.ts';
import { createRuntime } from '../../src/packs/open-runtime.ts';
import { verifies } from '../conformance/verifies.ts';

let home: string;
let cwd: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'fit-')));
  cwd = path.join(home, 'project');
  mkdirSync(path.join(cwd, '.git'), { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function skill(folder: string, name: string, description: string): void {
  const dir = path.join(home, folder, name);
  mkdirSync(dir, { recursive: true });
  writeFileSync(path.join(dir, 'SKILL.md'), `---\nname: ${name}\ndescription: ${description}\n---\n\nDo it.\n`);
}

/** Forty skills with descriptions of about 300 characters, which take more than the budget. */
function many(folder: string): void {
  for (let at = 10; at < 50; at += 1)
    skill(folder, `skill-${String(at)}`, `Works on number ${String(at)}. ${'x'.repeat(280)}`);
}

const surroundings = () => ({ home, cwd, env: {} });

async function fit(agent: string, pins: readonly string[] = []): Promise<FitPlan> {
  const { apply } = await planFit({ surroundings: surroundings(), agent, pins });
  return apply();
}

async function shown(agent: string): Promise<Readonly<Record<string, string>>> {
  const { agents } = await explainSkills({ surroundings: surroundings(), agents: [agent] });
  return Object.fromEntries(agents.flatMap(({ skills }) => skills.map(({ name, shown: how }) => [name, how])));
}

describe('fit', () => {
  for (const [agent, folder] of [
    ['claude-code', '.claude/skills'],
    ['github-copilot', '.copilot/skills'],
  ] as const)
    verifies('ACT-3', `${agent} shows every skill that stays in full, and undo brings the others back`, async () => {
      many(folder);
      for (let at = 50; at < 80; at += 1) skill(folder, `skill-${String(at)}`, `Works on ${'y'.repeat(600)}`);
      const before = await shown(agent);
      expect(Object.values(before)).toContain('name');
      const plan = await fit(agent);
      const after = await shown(agent);
      expect(new Set(Object.values(after))).toEqual(new Set(['full']));
      expect(Object.keys(after).toSorted()).toEqual(plan.stay.toSorted());
      expect(plan.stay).toContain('find-skill');
      expect([...plan.stay, ...plan.shelve].toSorted()).toEqual([...Object.keys(before), 'find-skill'].toSorted());
      await undoFit({ surroundings: surroundings(), agent });
      expect(await shown(agent)).toEqual(before);
    });

  test('an agent without a budget, or with few skills, keeps all of them and gets no find-skill', async () => {
    skill('.claude/skills', 'pdf', 'Fills in PDF forms.');
    many('.gemini/skills');
    for (const agent of ['claude-code', 'gemini-cli'])
      expect((await planFit({ surroundings: surroundings(), agent, pins: [] })).plan).toMatchObject({
        shelve: [],
        isChange: false,
      });
  });

  test('a pinned skill stays, also in later fits', async () => {
    many('.claude/skills');
    const text = `Works on everything. ${'x'.repeat(900)}`;
    skill('.claude/skills', 'pinned', text);
    expect((await fit('claude-code')).shelve).toContain('pinned');
    expect((await fit('claude-code', ['pinned'])).stay).toContain('pinned');
    expect(await shown('claude-code')).toMatchObject({ pinned: 'full' });
    skill('.claude/skills', 'newer', 'Works on newer.');
    const again = await fit('claude-code');
    expect(again.stay).toEqual(expect.arrayContaining(['pinned', 'newer', 'find-skill']));
    expect(again.after.full).toBe(again.after.skills);
    await expect(planFit({ surroundings: surroundings(), agent: 'claude-code', pins: ['pined'] })).rejects.toThrow(
      '"pined"',
    );
  });

  test('skills that match the project stay first', async () => {
    many('.claude/skills');
    skill('.claude/skills', 'terraform-plan', `Reviews Terraform infrastructure plans. ${'z'.repeat(400)}`);
    expect((await planFit({ surroundings: surroundings(), agent: 'claude-code', pins: [] })).plan.shelve).toContain(
      'terraform-plan',
    );
    writeFileSync(path.join(cwd, 'main.tf'), 'resource "x" "y" {}\n');
    expect((await planFit({ surroundings: surroundings(), agent: 'claude-code', pins: [] })).plan.stay).toContain(
      'terraform-plan',
    );
  });

  test('the folders of a project and of a repository are not changed', async () => {
    many('project/.claude/skills');
    mkdirSync(path.join(home, 'dotfiles/.git'), { recursive: true });
    many('dotfiles/skills');
    mkdirSync(path.join(home, '.claude'));
    symlinkSync('../dotfiles/skills', path.join(home, '.claude/skills'));
    const { plan } = await planFit({ surroundings: surroundings(), agent: 'claude-code', pins: [] });
    expect(plan).toMatchObject({ shelve: [], isChange: false });
    expect(plan.after.full).toBeLessThan(plan.after.skills);
  });

  test('the plan names the agents that share the folder', async () => {
    for (const used of ['.claude', '.codex', '.gemini']) mkdirSync(path.join(home, used));
    many('.agents/skills');
    symlinkSync('../.agents/skills', path.join(home, '.claude/skills'));
    const { plan } = await planFit({ surroundings: surroundings(), agent: 'claude-code', pins: [] });
    expect(plan.shelve.length).toBeGreaterThan(0);
    expect(plan.hiddenFrom.map(({ agent, skills }) => [agent, skills])).toEqual([
      ['codex', plan.shelve.toSorted()],
      ['gemini-cli', plan.shelve.toSorted()],
    ]);
  });

  test('skills on the shelf are skills of the user for Skillwright', async () => {
    many('.claude/skills');
    const plan = await fit('claude-code');
    const [name = ''] = plan.shelve;
    const { index } = await createRuntime({ cwd, home, env: {}, cache: false });
    expect(index.skills.find((one) => one.name === name)).toMatchObject({
      source: 'user',
      dir: path.join(home, '.agent/shelf', name),
    });
  });

  test('find-skill that the user edited stays after an undo', async () => {
    many('.claude/skills');
    await fit('claude-code');
    const file = path.join(home, '.claude/skills/find-skill/SKILL.md');
    writeFileSync(file, `${readFileSync(file, 'utf8')}More.\n`);
    const notes: string[] = [];
    await undoFit({ surroundings: surroundings(), agent: 'claude-code', onNote: (note) => notes.push(note) });
    expect(notes).toEqual([`"${path.dirname(file)}" was edited and was kept`]);
    expect(readdirSync(path.join(home, '.claude/skills'))).toHaveLength(41);
  });
});
