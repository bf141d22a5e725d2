import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { plainSkill, writeSkill } from '../activation/odd-skills.ts';
import { verifies } from '../conformance/verifies.ts';
import { cli, runCli } from './run-cli.ts';

let top: string;
let project: string;
let env: Readonly<Record<string, string>>;

beforeAll(() => {
  top = mkdtempSync(path.join(os.tmpdir(), 'why-'));
  project = path.join(top, 'project');
  env = { HOME: path.join(top, 'home') };
  mkdirSync(path.join(project, '.git'), { recursive: true });
  mkdirSync(path.join(top, 'home/.codex'), { recursive: true });
  for (let at = 0; at < 30; at += 1) {
    const name = `skill-${String(at).padStart(2, '0')}`;
    const text = at === 29 ? 'Fills in PDF forms.' : `${'word '.repeat(60)}${String(at)}`;
    writeSkill(path.join(project, '.claude/skills', name), plainSkill(name, text));
  }
});
afterAll(() => rmSync(top, { recursive: true, force: true }));

const why = (...words: readonly string[]) => runCli(project, ['why', ...words], env);

describe('skillwright why', () => {
  verifies('ACT-1', 'shows for each agent in use what it lists, and how a request ranks the skills', async () => {
    const { status, out } = await why('fill', 'in', 'a', 'pdf', 'form');
    expect(status).toBe(0);
    expect(out.replaceAll(top, '')).toBe(
      [
        ' score  skill         claude-code  codex',
        '  11.5  skill-29      description  not listed',
        '',
        'claude-code: 30 skills, 6 shown with description, 24 by name only',
        '  measured with version 2.1.327; budget: 8,000 columns (1 % of a window of 200,000 tokens); skills of the agent itself take 6,067',
        '     30 in /project/.claude/skills',
        '  name only, budget from position 6: 24',
        '    skill-05, skill-06, skill-07, skill-08, skill-09',
        '    and 19 more; all of them: --json',
        '',
        'codex: 0 skills, 0 shown with description',
        '  measured with version 0.169.0; budget: 5,440 tokens (2 % of a window of 272,000 tokens)',
        '',
        '',
      ].join('\n'),
    );
  });

  test('explains one skill and says which descriptions to shorten', async () => {
    const { status, out } = await why('--skill', 'skill-28', '--agent', 'claude-code,codex');
    expect(status).toBe(1);
    expect(out.replaceAll(top, '')).toBe(
      [
        'claude-code: name only at position 29',
        '  /project/.claude/skills/skill-28/SKILL.md',
        '  the budget of 8,000 columns is used up at position 29, 6,067 of them for skills of the agent itself',
        '  > 28 skills before it in the list',
        '  > remove 23 skills from its folders: shorter descriptions are not enough',
        '',
        'codex: not found',
        '  > /project/.claude/skills/skill-28 is in a folder that codex does not read',
        '  > install it for this agent: skillwright install /project/.claude/skills/skill-28 --agent codex',
        '',
        '',
      ].join('\n'),
    );
    const larger = await why('--skill', 'skill-28', '--agent', 'claude-code', '--window', '300000', '--json');
    const [{ advice, shorten }] = JSON.parse(larger.out).skill;
    expect([advice, shorten.to, shorten.skills.length]).toEqual([
      ['28 skills before it in the list', 'shorten 16 descriptions to 100 characters'],
      100,
      16,
    ]);
  });

  test('fits 80 columns', async () => {
    for (const words of [['fill in a pdf form'], ['--skill', 'skill-28']]) {
      const { out } = await cli(project, ['why', ...words, '--color', 'never', '--agent', 'claude-code,codex,pi'], {
        env,
        isTTY: true,
        columns: 80,
      });
      // A path is one word.
      expect(out.split('\n').filter((line) => line.length > 80 && !line.includes(top))).toEqual([]);
    }
  });

  test('prints JSON with the place and the reason of each skill', async () => {
    const { out } = await why('--agent', 'claude-code', '--json');
    const { agents } = JSON.parse(out);
    expect(agents[0].budget).toEqual({
      limit: 8000,
      unit: 'columns',
      own: 6067,
      from: '1 % of a window of 200,000 tokens',
    });
    expect(agents[0].skills[5]).toEqual({
      name: 'skill-05',
      path: path.join(project, '.claude/skills/skill-05/SKILL.md'),
      shown: 'name',
      position: 6,
      text: '',
      reason: {
        code: 'budget',
        message: 'the budget of 8,000 columns is used up at position 6, 6,067 of them for skills of the agent itself',
        fix: 'shorten descriptions, or remove skills that you do not use',
      },
    });
  });

  test('a larger window shows more', async () => {
    const { out } = await why('--agent', 'claude-code', '--window', '1000000');
    expect(out.split('\n')[0]).toBe('claude-code: 30 skills, 30 shown with description');
  });

  test('refuses an unknown agent, and says so if no agent is in use', async () => {
    const unknown = await why('--agent', 'claude');
    expect([unknown.status, unknown.err]).toEqual([
      2,
      'error: --agent must be one of claude-code, codex, gemini-cli, github-copilot, opencode, pi, qwen-code\nhint: got "claude"; did you mean claude-code?\n',
    ]);
    const none = await runCli(top, ['why'], { HOME: path.join(top, 'nobody') });
    expect([none.status, none.out, none.err]).toEqual([
      1,
      '',
      'no agent found here; name one, for example --agent claude-code\n',
    ]);
  });

  test('doctor has one line per agent', async () => {
    const { out } = await runCli(project, ['doctor', '--no-probe', '--json'], env);
    const { findings } = JSON.parse(out);
    expect(findings.filter(({ name }: { name: string }) => name === 'catalog')).toEqual([
      {
        name: 'catalog',
        status: 'warning',
        detail: 'claude-code: 30 skills, 6 shown with description, 24 by name only; see skillwright why',
      },
      { name: 'catalog', status: 'ok', detail: 'codex: 0 skills, 0 shown with description' },
    ]);
  });

  test('10,000 skills in one folder are listed', async () => {
    const home = path.join(top, 'many');
    for (let at = 0; at < 10_000; at += 1)
      writeSkill(path.join(home, '.agents/skills', `s${String(at)}`), plainSkill(`s${String(at)}`));
    const { status, out } = await runCli(project, ['why', 'says', 's77', '--agent', 'codex,github-copilot,pi'], {
      HOME: home,
    });
    expect([status, out.split('\n').filter((line) => line.includes('skills, '))]).toEqual([
      0,
      [
        'codex: 10000 skills, 0 shown with description, 605 by name only, 9395 not listed',
        'github-copilot: 10030 skills, 59 shown with description, 719 by name only, 9252 not listed',
        'pi: 10000 skills, 10000 shown with description',
      ],
    ]);
  });
});
