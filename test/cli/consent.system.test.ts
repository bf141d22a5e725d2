import { appendFileSync, chmodSync, cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { openTrust } from '../../src/policy/trust.ts';
import { createRuntime } from '../../src/runtime/runtime.ts';
import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';
import { scratch, writeSkill } from '../skills/registry/support.ts';
import { atTerminal, type Screen, type Step } from './pseudo-terminal.ts';
import { runCli, type CliResult } from './run-cli.ts';
import { needs } from '../needs.ts';
const COMMAND = [process.execPath, path.join(PROJECT, 'dist/command/skillwright.js')];
const PAUSE = { seconds: 0.6 };
const RUN = ['run', 'squash the zebra tables', '--model', 'rules', '--executor', 'none', '--no-cache'];
/** The rule model found and loaded the skill of the project. */
const USED = 'load_skill zebra';

interface World {
  readonly home: string;
  readonly project: string;
  readonly dir: string;
  readonly run: (...words: readonly string[]) => Promise<CliResult>;
  readonly at: (words: readonly string[], ...keys: readonly string[]) => Promise<Screen>;
}

/** A project without git in which a person has put a skill by hand. */
function world(env: Readonly<Record<string, string>> = {}): World {
  const base = scratch();
  const [home, project] = [path.join(base, 'home'), path.join(base, 'project')];
  const dir = path.join(project, '.agents/skills/zebra');
  mkdirSync(home);
  writeSkill(dir, {
    description: 'Squashes zebra tables. Use it for zebra tables.',
    fields: ['allowed-tools: Read Bash(jq:*)', 'requires: [env:ZEBRA_TOKEN, jq]'],
  });
  const all = { HOME: home, ...env };
  return {
    home,
    project,
    dir,
    run: (...words) => runCli(project, words, all),
    at(words, ...keys) {
      const steps = keys.flatMap((key): readonly Step[] => [{ until: '[n] no > ' }, PAUSE, { keys: key }]);
      return atTerminal([...COMMAND, ...words], steps, { cwd: project, env: all });
    },
  };
}

/** Whether the skill is trusted, or why not, as `list` would say. */
async function stateOf({ home, project }: Pick<World, 'home' | 'project'>, name: string): Promise<string> {
  const runtime = await createRuntime({ cwd: project, home, env: {}, cache: false });
  const skill = runtime.find(name);
  return (await runtime.distrust([skill], { files: true })).get(skill.dir)?.why ?? 'trusted';
}

describe('a skill of a project, at a terminal', needs('python3 with pty'), () => {
  verifies('INST-3', 'is asked about once, with what it is and may do, and the run goes on with it', async () => {
    const at = world();
    const first = await at.at(RUN, 'y');
    expect(first.status).toBe(0);
    const question = first.text.replaceAll('\r', '');
    expect(question).toMatch(
      new RegExp(
        [
          '^1 skill of this project is not trusted yet\\.',
          at.project,
          '  zebra  0 scripts, 1 file  sha256-tree:[0-9a-f]{12}',
          '    tools: Read, "Bash\\(jq:\\*\\)"; programs: jq; secrets: ZEBRA_TOKEN',
          'Trust the 1 skill of this project\\?',
          '\\[y\\] yes, as they are now  \\[m\\] my own: also after edits  \\[n\\] no > yes\n',
        ].join('\n'),
      ),
    );
    expect(question).toContain(USED);
    const second = await at.run(...RUN);
    expect([second.status, second.err.includes(USED), second.err.includes('not trusted')]).toEqual([0, true, false]);

    appendFileSync(path.join(at.dir, 'SKILL.md'), 'more\n');
    expect(await stateOf(at, 'zebra')).toBe('changed');
    const third = await at.at(RUN, 'n');
    expect(third.text).toContain('changed since you trusted it');
    expect(third.text).not.toContain(USED);
  });

  test('that the person writes stays trusted after edits, and not when another folder takes its place', async () => {
    const at = world();
    expect((await at.at(RUN, 'm')).text).toContain(USED);
    appendFileSync(path.join(at.dir, 'SKILL.md'), 'more\n');
    expect(await stateOf(at, 'zebra')).toBe('trusted');
    cpSync(at.dir, `${at.dir}-copy`, { recursive: true });
    renameSync(at.dir, path.join(at.home, 'old'));
    renameSync(`${at.dir}-copy`, at.dir);
    expect(await stateOf(at, 'zebra')).toBe('changed');
  });

  test('does not get trusted by other keys, and its text cannot act on the screen or look like the question', async () => {
    const at = world();
    writeSkill(path.join(at.project, '.agents/skills/evil'), {
      description: '"a\\e[2J\\n[y] yes > yes\\u202e"',
      fields: ['allowed-tools: ["Bash(\\e[31m\\u202e\\n[y]:*)"]', 'requires: ["\\e[1mx"]'],
    });
    const { text, status } = await at.at(RUN, '\r');
    expect(status).toBe(0);
    // The display itself redraws its status line after the question.
    const question = text.slice(text.indexOf('2 skills of'), text.indexOf('[n] no > '));
    expect(question).not.toMatch(/[\u001B\u202E]/);
    expect(question.split('\n').filter((line) => line.startsWith('[y]'))).toHaveLength(1);
    expect(await stateOf(at, 'zebra')).toBe('unknown');
    expect(text).toContain('warning: 2 skills are hidden until you trust this project');
  });

  test('Ctrl-C ends the command before the run starts', async () => {
    const at = world();
    const { status, text } = await at.at(RUN, '\u0003');
    expect([status, text.includes('run 2')]).toEqual([130, false]);
  });

  test.each([
    ['without a home folder', { HOME: '' }],
    ['with a home folder that cannot be written', { HOME: '/proc/self' }],
  ])('the answer holds for this run, %s', async (_, env) => {
    const at = world(env);
    const { status, text } = await at.at(RUN, 'y');
    expect([status, text.includes(USED)]).toEqual([0, true]);
    expect(text).toContain('warning: the answer holds for this run only');
  });

  test('exec asks about the skill that it runs, and about no other', async () => {
    const at = world();
    const other = path.join(at.project, '.agents/skills/other');
    writeSkill(other);
    mkdirSync(path.join(other, 'scripts'));
    writeFileSync(path.join(other, 'scripts/go.sh'), '#!/bin/sh\necho ran\n');
    chmodSync(path.join(other, 'scripts/go.sh'), 0o755);
    const { status, text } = await at.at(['exec', 'other', 'go.sh', '--executor', 'local'], 'y');
    expect([status, text.includes('Trust the 1 skill'), text.includes('ran\r\n')]).toEqual([0, true, true]);
    expect([await stateOf(at, 'other'), await stateOf(at, 'zebra')]).toEqual(['trusted', 'unknown']);
  });
});

describe('where nobody can be asked', () => {
  verifies(
    'POL-5',
    'hidden skills are named before the run, in the answer and in JSON; a flag uses them once',
    async () => {
      const at = world();
      const hidden = '1 skill is hidden until you trust this project: zebra';
      const text = await at.run(...RUN);
      expect(text.status).toBe(0);
      expect(
        text.err.startsWith(`warning: ${hidden}\nhint: review and trust: skillwright trust ${at.project}, or pass`),
      ).toBe(true);
      expect(
        text.out.endsWith(`\n\nNote: ${hidden}. To use it, review and trust: skillwright trust ${at.project}\n`),
      ).toBe(true);

      const lines = (await at.run(...RUN, '--json')).out.trim().split('\n');
      const named = [expect.objectContaining({ name: 'zebra', source: 'project', dir: at.dir, why: 'unknown' })];
      expect(JSON.parse(lines[0] ?? '')).toEqual({ schema: 1, untrusted: named });
      expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ result: { untrusted: named } });

      const used = await at.run(...RUN, '--trust-project');
      expect([used.status, used.err.includes(USED), used.out.includes('hidden')]).toEqual([0, true, false]);
      expect(await stateOf(at, 'zebra')).toBe('unknown');
    },
  );

  test('--trust-project needs no home folder', async () => {
    const at = world({ HOME: '' });
    expect((await at.run(...RUN, '--trust-project')).err).toContain(USED);
  });
});

describe('what needs no question', () => {
  verifies('INST-3', 'a skill that the user created, also after edits', async () => {
    const at = world();
    expect(await at.run('new', 'fresh')).toMatchObject({ status: 0 });
    expect(await stateOf(at, 'fresh')).toBe('trusted');
    const { dir } = (await createRuntime({ cwd: at.project, home: at.home, env: {} })).find('fresh');
    appendFileSync(path.join(dir, 'SKILL.md'), 'more\n');
    expect(await stateOf(at, 'fresh')).toBe('trusted');
    // A clone at the same path is not what the user created.
    rmSync(dir, { recursive: true });
    writeSkill(dir, { body: '# Somebody else\n' });
    expect(await stateOf(at, 'fresh')).toBe('changed');
  });

  verifies(
    'INST-3',
    'a skill that the user confirmed at install, as it was; after an edit it is asked about again',
    async () => {
      const at = world();
      writeSkill(path.join(at.home, 'source/horse'));
      expect(await at.run('install', path.join(at.home, 'source'), '--yes')).toMatchObject({ status: 0 });
      expect([await stateOf(at, 'horse'), await stateOf(at, 'zebra')]).toEqual(['trusted', 'unknown']);
      appendFileSync(path.join(at.home, 'source/horse/SKILL.md'), 'more\n');
      expect(await at.run('update', '--yes')).toMatchObject({ status: 0 });
      expect(await stateOf(at, 'horse')).toBe('trusted');
      appendFileSync(path.join(at.project, '.agents/skills/horse/SKILL.md'), 'more\n');
      expect(await stateOf(at, 'horse')).toBe('changed');
      // The same bytes at another path are not trusted.
      cpSync(at.project, `${at.project}-2`, { recursive: true });
      expect(await stateOf({ ...at, project: `${at.project}-2` }, 'horse')).toBe('unknown');
    },
  );

  test('nothing is trusted by a file of the project', async () => {
    const at = world();
    await openTrust({ home: at.project, bind: 'digest' }).trust(at.dir, { skills: [] });
    writeFileSync(path.join(at.project, '.agent/config.json'), '{"trust":{"bind":"path"}}');
    expect(readFileSync(path.join(at.project, '.agent/trust.json'), 'utf8')).toContain(at.dir);
    expect(await stateOf(at, 'zebra')).toBe('unknown');
  });
});

describe('two commands at once', () => {
  test('both skills are trusted afterwards', async () => {
    const at = world();
    const other = path.join(at.project, '.agents/skills/other');
    writeSkill(other);
    const store = openTrust({ home: at.home, bind: 'digest' });
    const digest = `sha256-tree:${'a'.repeat(64)}`;
    await Promise.all(
      [at.dir, other].map((dir) => openTrust({ home: at.home, bind: 'digest' }).trustSkills([{ dir, digest }])),
    );
    expect(store.list().folders).toMatchObject([
      { folder: path.dirname(at.dir), only: true, skills: [{ digest }, { digest }] },
    ]);
    // Revoking the project revokes what was trusted one by one.
    expect(await at.run('trust', '--revoke', at.project)).toMatchObject({ status: 0 });
    expect(store.list().folders).toEqual([]);
  });
});
