import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { openSkillTools } from '../../src/packs/open-runtime.ts';
import { createRuntime } from '../../src/runtime/runtime.ts';
import { scratch } from '../skills/registry/support.ts';

test.each([
  { vocabulary: 'openseed', tool: 'run_shell_command', folder: 'docs', name: 'file-diff' },
  { vocabulary: 'manusx', tool: 'shell_exec', folder: 'docs', name: 'file-diff' },
  { vocabulary: 'openseed', tool: 'run_shell_command', folder: 'my docs', name: 'file-diff' },
  { vocabulary: 'openseed', tool: 'run_shell_command', folder: '文档', name: 'My Skill' },
] as const)(
  '$vocabulary: a path of $name in $folder runs in any quotes',
  async ({ vocabulary, tool, folder, name }) => {
    const place = scratch();
    const root = path.join(place, folder, 'skills');
    const skill = path.join(root, 'file-diff');
    mkdirSync(path.join(skill, 'scripts'), { recursive: true });
    writeFileSync(
      path.join(skill, 'SKILL.md'),
      `---\nname: ${name}\ndescription: Compares two files.\n---\n\n# Diff\n`,
    );
    writeFileSync(path.join(skill, 'scripts', 'compare.sh'), 'echo compared "$@"\n');
    const settings = { cwd: place, home: undefined, env: {}, roots: [root], onlyRoots: true, cache: false } as const;
    const tools = await openSkillTools({
      runtime: await createRuntime(settings),
      vocabulary,
      execution: { executor: 'local' },
    });
    onTestFinished(() => tools.session.close());
    const run = async (command: string): Promise<unknown> => {
      const { text } = await tools.call(tool, { command });
      const value = JSON.parse(text);
      return (value.data ?? value).stdout ?? text;
    };
    const script = path.join(skill, 'scripts', 'compare.sh');
    const compared = 'compared a b\n';
    expect(await run(`sh '${script}' a b`)).toBe(compared);
    expect(await run(`sh "${script}" a b`)).toBe(compared);
    expect(await run(`sh ${script.replaceAll(' ', String.raw`\ `)} a b`)).toBe(compared);
    expect(await run(`cd '${skill}/scripts' && sh compare.sh a b`)).toBe(compared);
    expect(await run(`P='${script}'; sh "$P" a b`)).toBe(compared);
    expect(await run(`sh -s <<'EOF'\nsh '${script}' a b\nEOF`)).toBe(compared);
    expect(await run(`echo '${script}'`)).toMatch(/^\/.*\/scripts\/compare\.sh\n$/);
  },
);
