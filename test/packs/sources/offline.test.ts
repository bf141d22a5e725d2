import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { PROJECT } from '../../files-below.ts';

/** What is loaded with a file before anything is asked of it. */
function loadedWith(file: string): ReadonlySet<string> {
  const loaded = new Set([file]);
  for (const each of loaded) {
    if (!each.endsWith('.ts')) continue;
    const text = readFileSync(path.join(PROJECT, each), 'utf8');
    for (const [, type, to = ''] of text.matchAll(/^(?:import|export)\s(type\s)?[^;]*?from\s+'([^']+)'/gms))
      if (type === undefined) loaded.add(to.startsWith('.') ? path.posix.join(path.posix.dirname(each), to) : to);
  }
  return loaded;
}

test('folders and archives of this machine load nothing that knows of a network or starts programs', () => {
  const loaded = loadedWith('src/packs/inspect/stage-pack.ts');
  expect([...loaded]).toContain('src/packs/sources/archive.ts');
  const networked =
    /^node:(?:https?2?|net|tls|dns.*|dgram|child_process)$|network-gate|child-process|sources\/download|yaml|yauzl/;
  expect([...loaded].filter((name) => networked.test(name))).toEqual([]);
});
