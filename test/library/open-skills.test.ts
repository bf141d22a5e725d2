import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';

import { estimateTokens } from '../../src/core/tokens.ts';
import {
  openSkills,
  type ExecuteOptions,
  type OpenSkillsOptions,
  type SkillLibrary,
} from '../../src/library/open-skills.ts';
import { memorySkills } from '../../src/library/skill-source.ts';
import { writeThree } from '../runtime/support.ts';
import { groupExecutor } from '../sandbox/own-executor.ts';
import { scratch, writeSkill } from '../skills/registry/support.ts';

async function open(options: OpenSkillsOptions): Promise<SkillLibrary> {
  const library = await openSkills(options);
  onTestFinished(() => library.close());
  return library;
}

/** A folder with alpha, beta and gamma. */
function three(): string {
  const root = scratch();
  writeThree(root);
  return root;
}

/** Runs without isolation, so that the tests need no sandbox. */
const LOCAL: ExecuteOptions = { executor: 'local' };

describe('a library', () => {
  test('offers the skills of the folders it names, by path and by URL, and trusts them', async () => {
    const root = three();
    for (const from of [root, [root], pathToFileURL(root), [pathToFileURL(`${root}/`)]]) {
      const library = await open({ from });
      expect(library.skills.map(({ name }) => name)).toEqual(['alpha', 'beta', 'gamma']);
      expect(library.problems).toEqual([]);
      const chat = await library.conversation();
      expect(chat.system).toContain('Does alpha things. Use it for alpha.');
      expect((await chat.call('load_skill', { skill: 'alpha' })).text).toContain('canary-alpha-body');
    }
  });

  test('reads no configuration of the project, and its own settings instead', async () => {
    const root = three();
    mkdirSync(path.join(root, '.agent'));
    writeFileSync(path.join(root, '.agent/config.json'), '{"skill_visibility":{"alpha":"disabled"}}');
    const library = await open({ from: root, cwd: root, config: { skill_visibility: { beta: 'manual' } } });
    expect(library.skills.map(({ name }) => name)).toEqual(['alpha', 'gamma']);
  });

  test('names everything that it leaves out, with what to change in the program', async () => {
    const root = three();
    writeSkill(path.join(root, 'quiet'), { body: 'x\n', fields: ['disable-model-invocation: true'] });
    mkdirSync(path.join(root, 'broken'));
    writeFileSync(path.join(root, 'broken/SKILL.md'), 'no frontmatter\n');
    const other = scratch();
    writeSkill(path.join(other, 'alpha'), { body: 'other\n' });
    const library = await open({ from: [root, other, path.join(root, 'missing')] });
    const shown = library.problems.map(({ code, skill, message, hint }) => ({ code, skill, message, hint }));
    expect(shown.map(({ code, skill }) => `${code} ${skill ?? ''}`)).toEqual([
      'frontmatter/missing ',
      'root/empty ',
      'skill/hidden quiet',
      'skill/shadowed alpha',
    ]);
    expect(shown[0]?.message).toContain('broken" is left out: the file starts with "no frontmatter", expected ---');
    expect(shown[2]?.hint).toContain('remove disable-model-invocation from its SKILL.md');
    const addressed = await open({ from: 'ftp://example.com/skills' });
    expect(addressed.problems.map(({ code, path: at }) => [code, at])).toEqual([
      ['root/not-supported', 'ftp://example.com/skills'],
      ['library/empty', ''],
    ]);
    expect((await open({ from: [] })).problems.map(({ code }) => code)).toEqual(['library/empty']);
  });

  test('a closed library opens no conversation, and closing twice is harmless', async () => {
    const library = await open({ from: three() });
    await library.close();
    await library.close();
    await expect(library.conversation()).rejects.toMatchObject({ code: 'input/invalid' });
  });

  test('a skill that is added is there for conversations that start after refresh', async () => {
    const root = three();
    const library = await open({ from: root });
    const before = await library.conversation();
    writeSkill(path.join(root, 'later'), { description: 'Came later.', body: 'x\n' });
    await library.refresh();
    expect(before.system).not.toContain('Came later.');
    expect((await library.conversation()).system).toContain('Came later.');
  });
});

describe('a conversation', () => {
  test('has its own loaded skills; the same id is the same conversation until it is closed', async () => {
    const library = await open({ from: three() });
    const [ada, ben] = await Promise.all(['ada', 'ben'].map((id) => library.conversation({ id })));
    await ada?.call('load_skill', { skill: 'alpha' });
    expect([ada?.loaded, ben?.loaded]).toEqual([['alpha'], []]);
    expect((await ben?.call('load_skill', { skill: 'alpha' }))?.text).toContain('canary-alpha-body');
    expect(await library.conversation({ id: 'ada' })).toBe(ada);
    await ada?.close();
    expect(await ada?.call('load_skill', { skill: 'beta' })).toMatchObject({ isError: true });
    const again = await library.conversation({ id: 'ada' });
    expect(again.loaded).toEqual([]);
    await again[Symbol.asyncDispose]();
  });

  test('asks its own approver; only true and "conversation" are a yes, and no other conversation profits', async () => {
    const asked: string[] = [];
    const answers: unknown[] = ['yes', 1, undefined, 'conversation'];
    const library = await open({
      from: three(),
      execute: {
        ...LOCAL,
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as JavaScript may answer.
        approve: ({ conversation, text }) => (asked.push(`${conversation} ${text}`), answers.shift() as boolean),
      },
    });
    const ada = await library.conversation({ id: 'ada' });
    const run = { skill: 'alpha', script: 'go.sh' };
    const codes: unknown[] = [];
    for (let index = 0; index < 5; index += 1) codes.push((await ada.call('run_script', run)).isError);
    expect(codes).toEqual([true, true, true, false, false]);
    const ben = await library.conversation({ id: 'ben', approve: () => false });
    expect((await ben.call('run_script', run)).isError).toBe(true);
    expect(asked).toHaveLength(4);
    expect(asked[0]).toMatch(/^ada approval needed; risk: [^]*scripts\/go\.sh|^ada approval needed[^]*go\.sh/);
  });

  test('an executor of the program needs no other consent, unless the program asks', async () => {
    const asked: string[] = [];
    const call = async (execute: ExecuteOptions): Promise<string> => {
      const chat = await (await open({ from: three(), execute })).conversation();
      return (await chat.call('run_script', { skill: 'alpha', script: 'go.sh' })).text;
    };
    const executor = { ...groupExecutor(), name: 'e2b' };
    expect(await call({ executor })).toContain('canary-script');
    expect(asked).toEqual([]);
    expect(await call({ executor, approve: ({ text }) => asked.push(text) > 5 })).not.toContain('canary-script');
    expect(asked).toHaveLength(1);
  });

  test('a result of one line costs under 60 tokens, and output names its call', async () => {
    const told: string[] = [];
    const library = await open({
      from: three(),
      execute: {
        ...LOCAL,
        onOutput: ({ conversation, call, stream, text }) =>
          told.push(`${conversation} ${String(call)} ${stream} ${text}`),
      },
    });
    const chat = await library.conversation({ id: 'ada' });
    const { text, value } = await chat.call('run_script', { skill: 'alpha', script: 'go.sh' });
    expect(value).toEqual({
      stdout: 'canary-script\n',
      exit_code: 0,
      warnings: ['the program ran without isolation'],
    });
    expect(estimateTokens(text)).toBeLessThan(60);
    expect(told).toEqual(['ada 1 stdout canary-script\n']);
  });

  test('a failure names nothing of our command line, and a program can word what to do itself', async () => {
    const policy = { ask: ['run_script'], deny: ['run_command'] };
    const library = await open({
      from: [three(), memorySkills([{ name: 'mem', description: 'In memory.', body: 'x' }])],
      execute: LOCAL,
      policy,
      hints: { 'policy/denied': 'ask the operator of this shop' },
    });
    const chat = await library.conversation();
    const calls: readonly (readonly [string, unknown])[] = [
      ['run_script', { skill: 'alpha', script: 'go.sh' }],
      ['run_command', { command: 'ls', skill: 'alpha' }],
      ['run_script', { skill: 'alpha', script: 'none.sh' }],
      ['run_script', { skill: 'alpha', script: 'go.sh', packages: ['pypdf'] }],
      ['load_skill', { skill: 'alhpa' }],
      ['load_skill', {}],
      ['read_resource', { skill: 'alpha', path: '../../etc/passwd' }],
      ['write_file', { path: 'x', content: 'y' }],
      ['no_such_tool', {}],
    ];
    const texts: string[] = [];
    for (const [name, input] of calls) texts.push((await chat.call(name, input)).text);
    expect(texts.join('\n')).not.toMatch(/\bskillwright [a-z]|--(?:approve|yes|executor|with|image)|~\/\.agent/);
    expect(texts[0]).toContain('continue without it');
    expect(texts[1]).toContain('Ask the operator of this shop');
  });

  test('events reach the program that records them, in order', async () => {
    const types: string[] = [];
    const library = await open({ from: three() });
    const chat = await library.conversation({ onEvent: (event) => types.push(event.type) });
    await chat.call('load_skill', { skill: 'alpha' });
    expect(types[0]).toBe('session');
    expect(types).toEqual(expect.arrayContaining(['action', 'observation', 'decision']));
    expect(chat.ledger.rows.map(({ skill }) => skill)).toContain('option/alpha');
  });
});
