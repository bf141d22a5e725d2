import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { nodeRuntime, pythonRuntime } from '../../../../src/sandbox/executors/linux/runtimes.ts';

let home = '';

beforeEach(() => {
  home = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'skillwright-home-')));
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

function put(name: string, text = ''): string {
  const file = path.join(home, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function link(target: string, name: string): void {
  mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
  symlinkSync(target, path.join(home, name));
}

/** What a hostile repository has as its virtual environment, beside the keys of the user. */
describe('a runtime that a stranger made', () => {
  test('shows its own files and nothing that its links lead to', () => {
    put('.ssh/id_rsa', 'key');
    put('.ssh/python3.12/os.py');
    const python = put('project/base/bin/python3.12', '#!/bin/sh\n');
    put('project/base/lib/python3.12/os.py');
    link('../../../.ssh/id_rsa', 'project/base/ssl/cert.pem');
    link('../../../../.ssh', 'project/base/lib/python3.12/site-packages');
    link('../../../../../.ssh', 'project/base/lib/python3.12/dist-packages/pip');
    const files = ['bin/python3.12', 'lib/python3.12'].map((name) => path.join(home, 'project/base', name));
    expect(pythonRuntime(python)).toMatchObject({
      shown: files.map((file) => ({ source: file, target: file })),
      hidden: [path.join(home, 'project/base/lib/python3.12/dist-packages')],
    });
  });

  test('is none where its standard library or npm is a link to elsewhere', () => {
    put('.ssh/python3.12/os.py');
    const python = put('project/base/bin/python3.12');
    link('../../.ssh', 'project/base/lib');
    expect(pythonRuntime(python)).toBeUndefined();
    put('.ssh/npm-cli.js');
    const node = put('project/bin/node');
    link('../../.ssh/npm-cli.js', 'project/bin/npm');
    expect(nodeRuntime(node)).toEqual({
      folder: path.join(home, 'project/bin'),
      programs: { node },
      shown: [{ source: node, target: node }],
      hidden: [],
    });
  });
});
