/** What a skill says that it needs is looked for when it is chosen, and hides nothing. */
import { chmodSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import type { Config } from '../../src/core/config/config.ts';
import { createRuntime, type Runtime } from '../../src/runtime/runtime.ts';
import { openSkillTools } from '../../src/packs/open-runtime.ts';
import { runCli, temporaryFolder, writeFiles } from '../cli/run-cli.ts';
import { verifies } from '../conformance/verifies.ts';

const NEEDS: Readonly<Record<string, readonly string[]>> = {
  free: [],
  met: [
    '  bins: [present-program]',
    '  mcp: [github]',
    '  tools: [load_skill, Skill]',
    '  any: [nothing, read_resource]',
  ],
  lacking: ['  bins: [absent-program]', '  mcp: [gitlab]', '  any: [get_order, "bin:absent-too"]'],
};

function world(): {
  readonly home: string;
  readonly env: Record<string, string>;
  readonly open: () => Promise<Runtime>;
} {
  const home = temporaryFolder();
  writeFiles(home, {
    'bin/present-program': '#!/bin/sh\n',
    'project/readme.md': 'x',
    ...Object.fromEntries(
      Object.entries(NEEDS).map(([name, lines]) => [
        `.agents/skills/${name}/SKILL.md`,
        `---\nname: ${name}\ndescription: Does ${name}.\n${lines.length === 0 ? '' : `dependencies:\n${lines.join('\n')}\n`}---\nThe body.\n`,
      ]),
    ),
  });
  chmodSync(path.join(home, 'bin/present-program'), 0o755);
  const env = { PATH: path.join(home, 'bin'), HOME: home };
  const config: Config = { mcp_servers: { github: { command: 'true' } } };
  const open = (): Promise<Runtime> =>
    createRuntime({ cwd: path.join(home, 'project'), home, env, builtin: false, config });
  return { home, env, open };
}

const MISSING = [
  'the skill needs the program "absent-program", which is not available here',
  'the skill needs the MCP server "gitlab", which is not available here',
  'the skill needs the tool "get_order" or the program "absent-too", none of which is available here',
];

verifies(
  'EXEC-10',
  'what a skill needs and the session lacks is said when it is loaded, and no skill is hidden',
  async () => {
    const runtime = await world().open();
    const tools = await openSkillTools({ runtime });
    for (const name of Object.keys(NEEDS)) expect(tools.instructions).toContain(`<skill name="${name}"`);
    const load = async (skill: string): Promise<string> => (await tools.call('load_skill', { skill })).text;
    for (const name of ['free', 'met']) expect(await load(name)).not.toContain('not available');
    const text = await load('lacking');
    expect(text).toContain('The body.');
    for (const sentence of MISSING) expect(text).toContain(sentence);
    await tools.session.close();
    // Without a session, any tool may exist.
    expect(runtime.missing(runtime.find('lacking'))).toEqual(MISSING.slice(0, 2));
  },
);

test.each(['openseed', 'trpc', 'manusx', 'skills-agent'] as const)('%s says it, too', async (vocabulary) => {
  const runtime = await world().open();
  const tools = await openSkillTools({ runtime, vocabulary });
  const [tool, input] = {
    openseed: ['load_skill', { skill_name: 'lacking' }] as const,
    trpc: ['skill_load', { skill: 'lacking' }] as const,
    manusx: ['skill_request', { skill_name: 'lacking' }] as const,
    'skills-agent': ['select_skills', { skills: ['lacking'] }] as const,
  }[vocabulary];
  const { text } = await tools.call(tool, input);
  await tools.session.close();
  expect(text).toContain('absent-program');
});

test('inspect shows a person what a skill needs and what is missing', async () => {
  const { home, env } = world();
  const { out } = await runCli(path.join(home, 'project'), ['inspect', 'lacking'], env);
  expect(out).toMatch(/dependencies\s+bin:absent-program, mcp:gitlab, tool:get_order \| bin:absent-too/);
  expect(out).toContain('the skill needs the program "absent-program"');
});

test('inspect names a missing tool and an unknown kind, and no tool where an MCP server may have it', async () => {
  const { home, env } = world();
  writeFiles(home, {
    '.agents/skills/kinds/SKILL.md':
      '---\nname: kinds\ndescription: Does kinds.\nmetadata:\n  dependencies: "tool:get_order, tool:load_skill, foo:bar"\n---\nBody.\n',
  });
  const missing = async () => {
    const { out } = await runCli(path.join(home, 'project'), ['inspect', 'kinds', '--json'], env);
    return (JSON.parse(out) as { missing: string[] }).missing;
  };
  const kind = 'the skill needs "foo:bar" (neither tool, mcp nor bin), which is not available here';
  expect(await missing()).toEqual(['the skill needs the tool "get_order", which is not available here', kind]);
  writeFiles(home, { '.agent/config.json': JSON.stringify({ mcp_servers: { github: { command: 'true' } } }) });
  expect(await missing()).toEqual([kind]);
});
