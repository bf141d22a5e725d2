import path from 'node:path';

import { checkSkill } from '../../../src/skills/loader/check-skill.ts';
import type { Diagnostic } from '../../../src/core/diagnostic.ts';
import { buildPack, type BuildPackOptions, type BuiltPack } from '../../../src/packs/pack/build-pack.ts';
import { plant, type Tree } from '../../platform/fs/tree-support.ts';

export function skillText(name: string, fields = 'metadata:\n  version: "1.0.0"\n'): string {
  return `---\nname: ${name}\ndescription: Does it. Use it to test.\n${fields}---\n\n# Body\n`;
}

/** A skill with a program, a picture and a folder. */
function demoTree(name = 'demo'): Tree {
  return {
    'SKILL.md': skillText(name),
    'scripts/run.sh': { program: '#!/bin/sh\necho hello\n' },
    'assets/logo.bin': Buffer.from(Array.from({ length: 2048 }, (_, at) => (at * 7919) % 251)),
    'references/数据.md': `# Data\n\n${'many words, '.repeat(200)}\n`,
    'a-b/c.txt': 'sorts before a/ and behind it\n',
    'a/b.txt': '',
  };
}

/** Of the pack of that skill, on every machine. Another value here is another pack for every user: then the format has changed. */
export const DEMO_SHA256 = '3898e322bdf233776d4118611ffaef2662dcb5e2958c5711e3aba1d04b658b93';

export function plantDemo(base: string, name = 'demo', more: Tree = {}): string {
  return plant(path.join(base, name), { ...demoTree(name), ...more });
}

export const strict = (dir: string): readonly Diagnostic[] =>
  checkSkill(dir, 'SKILL.md', { mode: 'strict' }).diagnostics;

export function skillsIn(base: string, ...names: readonly string[]): readonly { dir: string; name: string }[] {
  return names.map((name) => ({ dir: path.join(base, name), name }));
}

/** A pack that must come out. */
export async function packed(options: BuildPackOptions): Promise<BuiltPack> {
  const built = await buildPack(options);
  if (built.type === 'refused') throw new Error(`${built.code}: ${built.message}`);
  return built;
}
