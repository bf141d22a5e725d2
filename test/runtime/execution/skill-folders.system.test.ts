import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import type { ExecutorName } from '../../../src/core/execution.ts';
import type { RunResult } from '../../../src/core/outputs.ts';
import type { Session } from '../../../src/runtime/session.ts';
import { EXECUTORS } from '../../sandbox/sandbox.ts';
import { scratch } from '../../skills/registry/support.ts';
import { knownExecutor } from '../../sandbox/known-executor.ts';
import { createRuntime } from '../../../src/runtime/runtime.ts';
import { SHARED_CACHE } from '../../cli/run-cli.ts';
import { has } from '../../needs.ts';

/** Folders of skills with their files; the name is that of the folder unless SKILL.md is among them. */
type Skills = Readonly<Record<string, Readonly<Record<string, string>>>>;

async function open(executor: ExecutorName, skills: Skills): Promise<Session> {
  const root = scratch();
  plantSkills(root, skills);
  return openOver(executor, { roots: [root] });
}

function plantSkills(root: string, skills: Skills): void {
  for (const [name, files] of Object.entries(skills)) {
    const head = `---\nname: ${JSON.stringify(name)}\ndescription: Does one thing.\n---\n# Body\n`;
    for (const [file, text] of Object.entries({ 'SKILL.md': head, ...files })) {
      mkdirSync(path.dirname(path.join(root, name, file)), { recursive: true });
      writeFileSync(path.join(root, name, file), text);
    }
  }
}

interface Opening {
  readonly roots: readonly string[];
  readonly record?: (event: object) => undefined;
}

async function openOver(executor: ExecutorName, { roots, record }: Opening): Promise<Session> {
  const [cwd = ''] = roots;
  const runtime = await createRuntime({
    cwd,
    home: undefined,
    env: SHARED_CACHE,
    onlyRoots: true,
    roots: roots.map((root, place) => ({ path: root, source: `source${String(place)}`, priority: -place })),
  });
  const execution = { executor: knownExecutor(executor), artifacts: false } as const;
  const session = await runtime.startSession({ execution, ...(record === undefined ? {} : { record }) });
  onTestFinished(() => session.close());
  return session;
}

async function run(
  session: Session,
  skill: string,
  command: string,
  files: readonly string[] = [],
): Promise<RunResult> {
  const outputs = files.length === 0 ? undefined : { output_files: files };
  const observation = await session.perform({ type: 'run_command', skill, command, outputs });
  if (observation.type !== 'program-ran') throw new Error(JSON.stringify(observation));
  return observation.result;
}

const PLACES: readonly (readonly [title: string, name: ExecutorName])[] = [
  ...EXECUTORS,
  ...(has('landlock') ? [['landlock', 'landlock'] as const] : []),
];

describe.each(PLACES)('the folder of a skill in %s', (_title, executor) => {
  test.each(['python_math', 'PyMath', 'py.math', 'My Skill', '@scope', 'a'.repeat(80)])(
    'has the name of the skill, which is SKILL_NAME: %s',
    async (name) => {
      const session = await open(executor, { [name]: { 'guide.md': 'text' } });
      const command =
        'echo "$SKILL_NAME"; basename "$PWD"; cd "$SKILLS_DIR/$SKILL_NAME" && pwd | tr -d "\\n" | wc -c; test "$PWD" = "$SKILL_DIR" && echo same';
      const {
        stdout,
        stderr,
        output_files: files,
        warnings,
      } = await run(session, name, command, [`skills/${name}/*.md`]);
      expect([stdout.split('\n').slice(0, 2), stdout.endsWith('same\n'), stderr]).toEqual([[name, name], true, '']);
      expect(files.map((file) => file.name)).toEqual([`skills/${name}/SKILL.md`, `skills/${name}/guide.md`]);
      expect(warnings.filter((warning) => warning.includes('its name'))).toEqual([]);
    },
  );

  test('is another one, and the result says so, where the name cannot be a folder', async () => {
    const session = await open(executor, { con: {} });
    const { stdout, warnings } = await run(session, 'con', 'echo "$SKILL_NAME"; basename "$PWD"');
    const [name, folder = ''] = stdout.split('\n');
    expect([name, folder]).toEqual(['con', expect.stringMatching(/^con-[0-9a-f]{8}$/)]);
    expect(warnings).toContain(
      `the folder of the skill "con" is $SKILLS_DIR/${folder}, because its name cannot be one, or another skill has it`,
    );
  });

  test('keeps the files of the first program in a session, recorded or not, and each result says so once they changed', async () => {
    const changed =
      'the skill "demo" changed on disk; programs of this session keep its earlier files, and a new session sees the new ones';
    for (const record of [undefined, () => undefined]) {
      const root = scratch();
      plantSkills(root, { demo: { 'data.txt': 'one' } });
      const session = await openOver(executor, { roots: [root], record });
      const show = async (): Promise<readonly [string, readonly string[]]> => {
        const { stdout, warnings } = await run(session, 'demo', 'cat data.txt');
        return [stdout, warnings.filter((warning) => warning.includes('"demo"'))];
      };
      const seen = [await show(), await show()];
      writeFileSync(path.join(root, 'demo/data.txt'), 'two');
      seen.push(await show(), await show());
      const before = ['one', []];
      expect(seen).toEqual([before, before, ['one', [changed]], ['one', [changed]]]);
      const next = await openOver(executor, { roots: [root], record });
      expect((await run(next, 'demo', 'cat data.txt')).stdout).toBe('two');
    }
  });

  test('is never that of a skill with the same name from another source, also when both run at once', async () => {
    const [first, second] = [scratch(), scratch()];
    plantSkills(first, { demo: { 'data.txt': 'first' } });
    plantSkills(second, { demo: { 'data.txt': 'second' } });
    const session = await openOver(executor, { roots: [first, second] });
    const show = async (skill: string): Promise<string> => {
      const { stdout } = await run(session, skill, 'cat data.txt; printf " $SKILL_NAME "');
      return stdout;
    };
    const skills = ['source0/demo', 'source1/demo'];
    const expected = ['first demo ', 'second demo '];
    expect(await Promise.all([...skills, ...skills].map(show))).toEqual([...expected, ...expected]);
  });

  test('may bring its own out/, work/ and inputs/: programs write there, and the next one reads it', async () => {
    const own = { 'out/.keep': '', 'out/sample.txt': 'sample', 'work/tables/a.csv': '1', 'inputs/b.csv': '2' };
    const session = await open(executor, { own });
    const write = [
      'dd if=SKILL.md of=out/dd.md 2>/dev/null',
      'sort -o out/sorted.txt SKILL.md',
      'tar cf out/all.tar SKILL.md',
      'echo hi > out/a.txt',
      'mkdir out/empty',
      'rm out/sample.txt',
      'cat work/tables/a.csv inputs/b.csv',
      'truncate -s 3 work/tables/a.csv',
      'split -l 1 SKILL.md work/part-',
    ];
    const first = await run(session, 'own', write.join(' && '), ['out/*.txt', 'out/*.md', 'out/*.tar']);
    expect([first.stdout, first.stderr, first.exit_code]).toEqual(['12', '', 0]);
    expect(first.output_files.map(({ name }) => name)).toEqual([
      'out/a.txt',
      'out/all.tar',
      'out/dd.md',

      'out/sorted.txt',
    ]);
    const next = await run(session, 'own', 'ls -A out work; wc -c < work/tables/a.csv; cat "$OUTPUT_DIR/a.txt"');
    expect(next.stdout.split('\n').filter((line) => line !== '')).toEqual([
      'out:',
      '.keep',
      'a.txt',
      'all.tar',
      'dd.md',
      'empty',

      'sorted.txt',
      'work:',
      'inputs',
      ...['aa', 'ab', 'ac', 'ad', 'ae'].map((end) => `part-${end}`),
      'tables',
      '3',
      'hi',
    ]);
    expect(next.warnings.filter((warning) => /moved|discarded|do not see/.test(warning))).toEqual([]);
  });

  test('says so where two skills bring the same file', async () => {
    const session = await open(executor, { first: { 'work/a.txt': '1' }, second: { 'work/a.txt': '2' } });
    expect((await run(session, 'first', 'cat work/a.txt')).stdout).toBe('1');
    const { stdout, warnings } = await run(session, 'second', 'cat work/a.txt');
    expect(stdout).toBe('1');
    expect(warnings).toContain(
      'programs do not see these files of second, because the workspace has others: "work/a.txt"',
    );
  });
});
