import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Config } from '../../../src/core/config/config.ts';
import { createRuntime, type Runtime } from '../../../src/runtime/runtime.ts';
import { scratch, writeSkill } from '../../skills/registry/support.ts';
import { wheel } from './package-index.ts';

/** `pdf-reader` needs `base-lib`, which brings the command `base-tool`. */
export const BASE = wheel(
  'base_lib',
  '1.4',
  { 'base_lib.py': 'VALUE = 42\ndef main():\n    print("tool", VALUE)\n' },
  { scripts: ['base-tool=base_lib:main'] },
);
export const READER = wheel(
  'pdf_reader',
  '2.1',
  { 'pdf_reader/__init__.py': 'from base_lib import VALUE\n' },
  { needs: ['base-lib>=1'] },
);
/** Uses both packages and prints `value 42` and `tool 42`. */
export const USES_BOTH =
  'import pdf_reader, subprocess\nprint("value", pdf_reader.VALUE, flush=True)\nsubprocess.run(["base-tool"])\n';
export const USES_BASE = 'import base_lib\nprint("value", base_lib.VALUE)\n';
export const USE = { type: 'run_script', skill: 'reader', script: 'use.py', args: [] } as const;

/** A folder with the skill `reader`. Files are scripts, except for lists of requirements. */
export function makeReader(files: Readonly<Record<string, string>>): string {
  const home = scratch();
  // Programs of another user have to reach the workspace.
  chmodSync(home, 0o755);
  const dir = path.join(home, 'skills', 'reader');
  writeSkill(dir, { body: '# reader\n' });
  mkdirSync(path.join(dir, 'scripts'));
  for (const [name, text] of Object.entries(files))
    writeFileSync(path.join(dir, name.endsWith('.txt') ? name : `scripts/${name}`), text);
  return home;
}

/** A runtime over the skills of a folder that `makeReader` made; `env` has the address of the package index. */
export function readerRuntime(
  home: string,
  env: Readonly<Record<string, string>>,
  options: { readonly config?: Config; readonly home?: string } = {},
): Promise<Runtime> {
  const skills = path.join(home, 'skills');
  return createRuntime({
    cwd: home,
    home: undefined,
    env: { TMPDIR: home, ...env },
    roots: [skills],
    onlyRoots: true,
    cache: false,
    vouched: [skills],
    ...options,
  });
}
