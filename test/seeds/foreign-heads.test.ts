/** Names and fields of a SKILL.md that the documents do not speak of, in the vocabularies of the four systems. */
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import type { Config } from '../../src/core/config/config.ts';
import type { VocabularyName } from '../../src/core/vocabulary-names.ts';
import { openSkillTools } from '../../src/packs/open-runtime.ts';
import { createRuntime } from '../../src/runtime/runtime.ts';
import type { SkillTools } from '../../src/runtime/skill-tools.ts';
import { scratch } from '../skills/registry/support.ts';
import { write } from './skills-agent-place.ts';

const SYSTEMS = ['openseed', 'trpc', 'manusx', 'skills-agent'] as const;

/** Tools over skills, each a folder and its frontmatter. */
async function open(
  vocabulary: VocabularyName,
  heads: Readonly<Record<string, string>>,
  config: Config = {},
): Promise<SkillTools> {
  const root = path.join(scratch(), 'skills');
  for (const [folder, head] of Object.entries(heads)) write(root, `${folder}/SKILL.md`, `---\n${head}\n---\n\nBody.\n`);
  const settings = { cwd: path.dirname(root), home: undefined, env: {}, roots: [root], onlyRoots: true } as const;
  const runtime = await createRuntime({ ...settings, cache: false, vocabulary, config });
  const tools = await openSkillTools({ runtime, execution: false });
  onTestFinished(() => tools.session.close());
  return tools;
}

async function load({ call, session }: SkillTools, name: string): Promise<{ isError: boolean; text: string }> {
  const input = session.vocabulary.name === 'skills-agent' ? { skills: [{ name }] } : { skill_name: name, skill: name };
  const { isError, text } = await call(session.vocabulary.loadTool, input);
  return { isError, text };
}

const NAMES = {
  back: String.raw`name: a\b`,
  dots: 'name: a..b',
  tabbed: String.raw`name: "a\tb"`,
  lines: String.raw`name: "two\nlines"`,
  slashes: 'name: a/b/c',
  hidden: String.raw`name: "in\u200bvis"`,
  wide: 'name: ｗide-name',
  spaced: 'name: " lead "',
  colon: 'name: a:b',
  grouped: 'name: org/skill',
};

test('a name that is a path or has two lines is that of the folder, hidden characters go, and check says so', async () => {
  const heads = Object.fromEntries(
    Object.entries(NAMES).map(([folder, name]) => [folder, `${name}\ndescription: Demo.`]),
  );
  for (const vocabulary of SYSTEMS) {
    const tools = await open(vocabulary, heads);
    const { index } = tools.session;
    expect([vocabulary, index.skills.map(({ name }) => name).toSorted()]).toEqual([
      vocabulary,
      ['a:b', 'back', 'dots', 'invis', 'lead', 'lines', 'org/skill', 'slashes', 'tabbed', 'wide-name'],
    ]);
    const codes = (folder: string): readonly string[] =>
      index.diagnostics.filter(({ path: at }) => at.includes(`/${folder}/`)).map(({ code }) => code);
    for (const folder of ['back', 'dots', 'tabbed', 'lines', 'slashes'])
      expect([folder, codes(folder)]).toEqual([folder, expect.arrayContaining(['name/invalid'])]);
    for (const name of ['back', 'dots', 'invis', 'a:b', 'org/skill'])
      expect([name, (await load(tools, name)).isError]).toEqual([name, false]);
    for (const name of [String.raw`a\b`, 'a..b', 'two\nlines'])
      expect([name, (await load(tools, name)).isError]).toEqual([name, true]);
  }
});

test('an unknown YAML tag and a merge key leave a skill out with the reason, in each of the four systems', async () => {
  const heads = {
    plain: 'name: plain\ndescription: Demo.',
    tagged: 'name: tagged\ndescription: !important thing',
    merged: 'name: merged\ndescription: Demo.\n<<: {a: b}',
  };
  for (const vocabulary of SYSTEMS) {
    const tools = await open(vocabulary, heads);
    expect(tools.session.index.skills.map(({ name }) => name)).toEqual(['plain']);
    for (const [name, reason] of [
      ['tagged', 'the YAML tag "!important" is refused'],
      ['merged', 'the YAML merge key "<<" is refused'],
    ] as const) {
      const { isError, text } = await load(tools, name);
      expect([isError, text.replaceAll('\\"', '"')]).toEqual([true, expect.stringContaining(reason)]);
    }
  }
});

test('a file called skill.md or Skill.md makes no skill in any of the four systems', async () => {
  for (const vocabulary of SYSTEMS) {
    const root = path.join(scratch(), 'skills');
    write(root, 'plain/SKILL.md', '---\nname: plain\ndescription: Demo.\n---\n');
    for (const file of ['lower/skill.md', 'mixed/Skill.md'])
      write(root, file, `---\nname: ${path.dirname(file)}\ndescription: Demo.\n---\n\nCANARY\n`);
    const settings = { cwd: path.dirname(root), home: undefined, env: {}, roots: [root], onlyRoots: true } as const;
    const runtime = await createRuntime({ ...settings, cache: false, vocabulary });
    const tools = await openSkillTools({ runtime, execution: false });
    expect([vocabulary, tools.session.index.skills.map(({ name }) => name)]).toEqual([vocabulary, ['plain']]);
    const { isError, text } = await load(tools, 'lower');
    expect([isError, text]).toEqual([true, expect.stringContaining('the file is called skill.md, expected SKILL.md')]);
    await tools.session.close();
  }
});

test('disallowed-tools forbids while its skill is loaded in each of the four systems, and no setting lifts it', async () => {
  const heads = {
    plain: 'name: plain\ndescription: Demo.',
    strict: 'name: strict\ndescription: Demo.\ndisallowed-tools: Bash, run_command',
  };
  for (const vocabulary of SYSTEMS)
    for (const config of [{}, { policy: { allowed_tools: 'ignore' } }] as const) {
      const tools = await open(vocabulary, heads, config);
      const effect = (): string => tools.session.decide([{ tool: 'run_command', subject: { kind: 'none' } }]).effect;
      await load(tools, 'plain');
      const before = effect();
      await load(tools, 'strict');
      expect([vocabulary, before === 'deny', effect()]).toEqual([vocabulary, false, 'deny']);
    }
});

test('skills-agent: context: fork is a subagent, paths is kept, and a nested field that the list does not have is ignored', async () => {
  const head = (name: string, field: string): string => `name: ${name}\ndescription: Demo.\n${field}`;
  const { session } = await open('skills-agent', {
    forked: head('forked', 'context: fork'),
    nested: head('nested', 'custom:\n  a:\n    - b: c'),
    pathy: head('pathy', 'paths: ["*.csv"]'),
  });
  expect(session.index.skills.map(({ name, controls: { runMode, paths } }) => [name, runMode, paths])).toEqual([
    ['forked', 'subagent', undefined],
    ['nested', 'inline', undefined],
    ['pathy', 'inline', ['*.csv']],
  ]);
});
