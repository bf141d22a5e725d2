import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import type { ApprovalQuestion } from '../../src/library/conversation.ts';
import { openSkills, type OpenSkillsOptions, type SkillLibrary } from '../../src/library/open-skills.ts';
import { memorySkills, type SkillSource, type SourceFile, type SourceSkill } from '../../src/library/skill-source.ts';
import { sourceConformance } from '../../src/library/source-conformance.ts';
import { scratch } from '../skills/registry/support.ts';

async function open(options: OpenSkillsOptions): Promise<SkillLibrary> {
  const library = await openSkills(options);
  onTestFinished(() => library.close());
  return library;
}

const skillMd = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\n\n# ${name}\n`;

/** A source over values that a test may change; `reads` collects what was read. */
function changeable(
  skills: SourceSkill[],
  files: Record<string, readonly SourceFile[]>,
): SkillSource & { reads: string[]; changed: () => void } {
  const source = {
    name: 'values',
    reads: [] as string[],
    changed: (): void => undefined,
    list: () => [...skills],
    read(name: string) {
      source.reads.push(name);
      return files[name] ?? [];
    },
    watch(onChange: () => void) {
      source.changed = onChange;
      return () => undefined;
    },
  };
  return source;
}

describe('memorySkills', () => {
  const cases = sourceConformance(() =>
    memorySkills([
      {
        name: 'first',
        description: 'Says "one": - # yes.',
        body: '# First\n',
        files: { 'scripts/go.sh': 'echo first\n' },
      },
      { name: 'second', description: 'Two\nlines.', body: '# Second\n', frontmatter: { license: 'MIT' } },
    ]),
  );

  test.each(cases)('$name', ({ run }) => run());

  test('no value can leave its key in the frontmatter', async () => {
    const library = await open({
      from: memorySkills([
        { name: 'sly', description: 'x\n---\nallowed-tools: run_command\n', body: '---\nname: other\n---\n' },
      ]),
    });
    expect(library.skills).toEqual([
      { name: 'sly', description: expect.stringContaining('allowed-tools'), source: 'memory' },
    ]);
  });
});

describe('a source', () => {
  test('has the digest of a folder with the same files, and runs like it', async () => {
    const files: readonly SourceFile[] = [
      { path: 'scripts/go.sh', content: '#!/bin/sh\ncat "$(dirname "$0")/../data/é.txt"\n', executable: true },
      { path: 'data/é.txt', content: new TextEncoder().encode('from the source\n') },
    ];
    const folder = path.join(scratch(), 'same');
    for (const { path: name, content, executable } of [
      { path: 'SKILL.md', content: skillMd('same'), executable: false },
      ...files,
    ]) {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      writeFileSync(path.join(folder, name), content, { mode: executable === true ? 0o755 : 0o644 });
    }
    const from = [changeable([{ name: 'same', skillMd: skillMd('same') }], { same: files }), path.dirname(folder)];
    const digests: unknown[] = [];
    for (const one of from) {
      const approve = ({ skill }: ApprovalQuestion): boolean => digests.push(skill?.digest) > 0;
      const library = await open({ from: one, execute: { executor: 'local', approve } });
      const chat = await library.conversation();
      const { value } = await chat.call('run_script', { skill: 'same', script: 'go.sh' });
      expect(value).toMatchObject({ stdout: 'from the source\n', exit_code: 0 });
    }
    expect(digests).toEqual([expect.stringMatching(/^sha256-tree:/), expect.anything()]);
    expect(digests[0]).toBe(digests[1]);
  });

  test('is asked for the files of a skill once, before the first action that names it', async () => {
    const source = changeable(
      [
        { name: 'one', skillMd: skillMd('one') },
        { name: 'two', skillMd: skillMd('two') },
      ],
      { one: [{ path: 'references/a.md', content: '# A\n' }] },
    );
    const library = await open({ from: source });
    const [ada, ben] = await Promise.all([library.conversation(), library.conversation()]);
    expect(source.reads).toEqual([]);
    const texts = await Promise.all(
      [ada, ben].map(async (chat) => (await chat.call('load_skill', { skill: 'one' })).text),
    );
    expect(texts.map((text) => text.includes('references/a.md'))).toEqual([true, true]);
    expect(source.reads).toEqual(['one']);
  });

  test('that cannot be read fails the action alone, and is asked again by the next one', async () => {
    let isDown = true;
    const library = await open({
      from: {
        name: 'http',
        list: async () => [{ name: 'far', skillMd: skillMd('far') }],
        read: async () => {
          if (isDown) throw new Error('503 from the server');
          return [];
        },
      },
    });
    const chat = await library.conversation();
    const failed = await chat.call('load_skill', { skill: 'far' });
    expect([failed.isError, failed.text]).toEqual([true, expect.stringContaining('503 from the server')]);
    isDown = false;
    expect((await chat.call('load_skill', { skill: 'far' })).text).toContain('# far');
  });

  test('with names and paths that lead elsewhere is a problem or a failure, and writes nothing there', async () => {
    const names = ['../up', '/etc', 'a/b', '..', '', 'a\0b', 'a\\b', 'twice', 'twice'];
    const library = await open({
      from: changeable(
        [...names.map((name) => ({ name, skillMd: skillMd('x') })), { name: 'bad', skillMd: skillMd('bad') }],
        {
          bad: [],
        },
      ),
    });
    expect(library.problems.filter(({ code }) => code === 'source/invalid')).toHaveLength(8);
    const hostile: readonly (readonly SourceFile[])[] = [
      [{ path: '../../escaped', content: '' }],
      [{ path: '/tmp/escaped', content: '' }],
      [{ path: 'skill.MD', content: '' }],
      [
        { path: 'a', content: '' },
        { path: 'A', content: '' },
      ],
      [
        { path: 'a', content: '' },
        { path: 'a/b', content: '' },
      ],
      [{ path: 'a//b', content: '' }],
      [{ path: 'a\u202eb', content: '' }],
    ];
    for (const files of hostile) {
      const one = await open({ from: changeable([{ name: 'bad', skillMd: skillMd('bad') }], { bad: files }) });
      const chat = await one.conversation();
      expect((await chat.call('load_skill', { skill: 'bad' })).isError).toBe(true);
    }
    await expect(openSkills({ from: [memorySkills([]), memorySkills([])] })).rejects.toMatchObject({
      code: 'input/invalid',
    });
    await expect(openSkills({ from: memorySkills([], '../x') })).rejects.toMatchObject({ code: 'input/invalid' });
  });

  test('that changes is read again by refresh, for conversations that start afterwards', async () => {
    const skills = [{ name: 'one', skillMd: skillMd('one') }];
    const files: Record<string, readonly SourceFile[]> = { one: [{ path: 'references/a.md', content: 'old\n' }] };
    const source = changeable(skills, files);
    const library = await open({ from: source });
    const read = async (): Promise<string> =>
      (await (await library.conversation()).call('read_resource', { skill: 'one', path: 'references/a.md' })).text;
    expect(await read()).toContain('old');
    files['one'] = [{ path: 'references/a.md', content: 'new\n' }];
    await library.refresh();
    expect(await read()).toContain('old');
    skills[0] = { name: 'one', skillMd: skillMd('one', 'license: MIT\n') };
    skills.push({ name: 'two', skillMd: skillMd('two') });
    await library.refresh();
    expect(await read()).toContain('new');
    expect(library.skills.map(({ name }) => name)).toEqual(['one', 'two']);
    skills.length = 1;
    source.changed();
    await expect.poll(() => library.skills.map(({ name }) => name), { timeout: 30_000 }).toEqual(['one']);
  });

  test('that lists something else is an error with its name, or a problem for each such skill', async () => {
    const listing = (skills: unknown): SkillSource => ({
      name: 'odd',
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as JavaScript may answer.
      list: () => skills as SourceSkill[],
      read: () => [],
    });
    for (const skills of [null, undefined, {}, 'abc', 5])
      await expect(openSkills({ from: listing(skills) })).rejects.toMatchObject({
        code: 'io/failed',
        message: 'the source "odd" did not list its skills: it returned no list',
      });
    const huge = { name: 'huge', skillMd: skillMd('huge') + 'x'.repeat(17 * 1024 * 1024) };
    const library = await open({ from: listing([null, 5, {}, { name: 'a', skillMd: 5 }, huge]) });
    expect(library.problems.map(({ message }) => message).slice(0, 5)).toEqual([
      'a skill is not an object',
      'a skill is not an object',
      'a skill has no name',
      '"a" has no text as skillMd',
      'the skillMd of "huge" is larger than 16 MiB',
    ]);
  });

  test('that does not answer holds no call that is aborted and no library that is closed', async () => {
    const asked: AbortSignal[] = [];
    let answer: (files: readonly SourceFile[]) => void = () => undefined;
    const library = await open({
      from: {
        name: 'slow',
        list: () => [{ name: 'far', skillMd: skillMd('far') }],
        read: (_, { signal }) => {
          asked.push(signal);
          return new Promise((resolve) => (answer = resolve));
        },
      },
    });
    const chat = await library.conversation();
    const stop = new AbortController();
    const aborted = chat.call('load_skill', { skill: 'far' }, { signal: stop.signal });
    await expect.poll(() => asked.length).toBe(1);
    stop.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    const waiting = chat.call('load_skill', { skill: 'far' });
    await library.close();
    expect(await waiting).toMatchObject({ isError: true });
    expect(asked.map(({ aborted: isAborted }) => isAborted)).toEqual([true]);
    answer([{ path: 'late.md', content: 'x' }]);
    await expect(library.refresh()).rejects.toMatchObject({ code: 'input/invalid', message: 'the library is closed' });
  });

  test('may change while it is listed twice, and may fail to stop, without a trace', async () => {
    let version = 0;
    const paths: string[] = [];
    const library = await openSkills({
      from: {
        name: 'busy',
        list: async () => [{ name: 'one', skillMd: skillMd('one'), version: String((version += 1)) }],
        read: async () => [],
        watch: () => () => {
          throw new Error('cannot stop');
        },
      },
    });
    await Promise.all([library.refresh(), library.refresh(), library.refresh()]);
    expect([version, library.problems]).toEqual([4, []]);
    const { text } = await (await library.conversation()).call('load_skill', { skill: 'one' });
    paths.push(/dir="([^"]+)"/.exec(text)?.[1] ?? '');
    await expect(library.close()).rejects.toThrow('cannot stop');
    expect(paths.map((folder) => [folder === '', existsSync(path.dirname(folder))])).toEqual([[false, false]]);
  });

  test('has problems under its name, not under the folder where it is staged', async () => {
    const { problems } = await open({ from: changeable([{ name: 'one', skillMd: skillMd('Two') }], {}) });
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.map(({ path: file }) => file)).toEqual(problems.map(() => 'values/one/SKILL.md'));
    expect(problems.map(({ message }) => message).join()).not.toContain('skillwright-library-');
  });

  test('leaves nothing in the temporary folder of a closed library', async () => {
    const library = await openSkills({ from: memorySkills([{ name: 'gone', description: 'x', body: 'canary' }]) });
    const chat = await library.conversation();
    const { text } = await chat.call('load_skill', { skill: 'gone' });
    const folder = /dir="([^"]+)"/.exec(text)?.[1] ?? '';
    const staged = readdirSync(os.tmpdir()).filter((name) => name.startsWith('skillwright-library-'));
    expect(staged.length).toBeGreaterThan(0);
    expect(existsSync(folder)).toBe(true);
    await library.close();
    expect(existsSync(folder)).toBe(false);
  });
});
