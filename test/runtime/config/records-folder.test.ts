import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { LoadedConfig } from '../../../src/core/config/loaded-config.ts';
import { loadConfig } from '../../../src/runtime/config/config.ts';
import { temporaryFolder, writeFiles } from '../../cli/run-cli.ts';

const NOT_ORDINARY =
  'error config/not-for-project "runs.directory" is not used: it is behind a link, or part of .git, a skill, installed packages or the settings of a tool';

function makeProject(directory: string): { readonly cwd: string; readonly home: string } {
  const root = temporaryFolder();
  const [cwd, home] = [path.join(root, 'project'), path.join(root, 'home')];
  writeFiles(root, { 'project/.agent/config.json': JSON.stringify({ runs: { directory } }), 'home/x': '' });
  return { cwd, home };
}

function messages({ diagnostics }: LoadedConfig): readonly string[] {
  return diagnostics.map(({ severity, code, message }) => `${severity} ${code} ${message}`);
}

describe('a project', () => {
  test('keeps its records inside itself, links on the way included', async () => {
    const { cwd, home } = makeProject('build/out/runs');
    const inside = await loadConfig({ cwd, home, env: {} });
    expect([inside.config, messages(inside)]).toEqual([{ runs: { directory: path.join(cwd, 'build/out/runs') } }, []]);
    symlinkSync(home, path.join(cwd, 'build'));
    const outside = await loadConfig({ cwd, home, env: {} });
    expect([outside.config, messages(outside)]).toEqual([{}, [NOT_ORDINARY]]);
  });

  test.each(
    `. .git .git/hooks sub/.git/x .GIT/hooks node_modules/x lib/node_modules/x .venv/x .agent .agent/artifacts .agent/skills/s .agents/skills/s
    .claude/x .github/workflows .husky tools/s tools/s/x/y meta/hooks linked linked/x`.split(/\s+/),
  )('does not keep its records in %s', async (directory) => {
    const { cwd, home } = makeProject(directory);
    writeFiles(cwd, { 'tools/s/SKILL.md': '---\nname: s\n---\n', 'meta/HEAD': 'ref: x\n', 'data/x': '' });
    symlinkSync('data', path.join(cwd, 'linked'));
    const loaded = await loadConfig({ cwd, home, env: {} });
    expect([loaded.config, messages(loaded)]).toEqual([{}, [NOT_ORDINARY]]);
  });

  test.each(['.agent/runs', '.agent/records/x', 'docs/x', 'tools'])('keeps its records in %s', async (directory) => {
    const { cwd, home } = makeProject(directory);
    writeFiles(cwd, { 'tools/s/SKILL.md': '---\nname: s\n---\n' });
    const loaded = await loadConfig({ cwd, home, env: {} });
    expect([loaded.config, messages(loaded)]).toEqual([{ runs: { directory: path.join(cwd, directory) } }, []]);
  });
});
