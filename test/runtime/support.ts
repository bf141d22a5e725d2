import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { createRuntime, type Runtime } from '../../src/runtime/runtime.ts';
import { SHARED_CACHE } from '../cli/run-cli.ts';
import { writeSkill } from '../skills/registry/support.ts';

/** A runtime over one root and nothing else of this machine. */
export function runtimeOver(root: string, config?: object): Promise<Runtime> {
  const options = { cwd: root, home: undefined, env: SHARED_CACHE, roots: [root], onlyRoots: true } as const;
  if (config === undefined) return createRuntime(options);
  const configFile = path.join(root, 'config.json');
  writeFileSync(configFile, JSON.stringify(config));
  return createRuntime({ ...options, configFile });
}

/** Three skills, each with a text of its own that no other one holds. */
export function writeThree(root: string): void {
  for (const name of ['alpha', 'beta', 'gamma']) {
    const dir = path.join(root, name);
    writeSkill(dir, {
      description: `Does ${name} things. Use it for ${name}.`,
      body: `# ${name}\n\ncanary-${name}-body\n`,
    });
    mkdirSync(path.join(dir, 'references'), { recursive: true });
    mkdirSync(path.join(dir, 'scripts'));
    writeFileSync(path.join(dir, 'references/one.md'), `# One\n\ncanary-${name}-one\n`);
    writeFileSync(path.join(dir, 'references/two.md'), `# Two\n\ncanary-${name}-two\n`);
    writeFileSync(path.join(dir, 'scripts/go.sh'), '#!/bin/sh\necho canary-script\n', { mode: 0o755 });
  }
}
