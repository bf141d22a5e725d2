import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';

import { filesBelow } from '../files-below.ts';
import { wrongCommands } from './run-page.ts';
import { needs, skipUnless } from '../needs.ts';

/** Pages that show a machine without a package of Python. */
const WITHOUT: Readonly<Record<string, string>> = { 'docs/how-to/packages-for-a-script.md': 'pypdf' };

const hasModule = (name: string): boolean =>
  spawnSync('/usr/bin/python3', ['-I', '-c', `import ${name}`], { stdio: 'ignore' }).status === 0;

describe('how-to pages: each command prints what the page shows', needs('python3 with pty', 'bubblewrap'), () => {
  for (const page of filesBelow('docs/how-to', /\.md$/)) {
    const module = WITHOUT[page];
    const options = skipUnless(
      module === undefined || !hasModule(module),
      `a machine without python3-${String(module)}`,
    );
    test(`shows ${page}`, { ...options, timeout: 600_000 }, async () =>
      expect(await wrongCommands(page, page.replace('docs/', 'docs/zh/'))).toEqual([]),
    );
  }
});
