/** Processes whose file systems have no hard links, as on FAT and some network mounts. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';

import { scratch } from '../../skills/registry/support.ts';

/** Returns the function that allows hard links again. */
export function refuseLinks(code = 'EPERM'): () => void {
  const before = fs.linkSync;
  fs.linkSync = (from) => {
    throw Object.assign(new Error(`${code}: operation not permitted, link '${String(from)}'`), {
      code,
      syscall: 'link',
    });
  };
  syncBuiltinESMExports();
  return () => {
    fs.linkSync = before;
    syncBuiltinESMExports();
  };
}

/** `NODE_OPTIONS` for a program that finds no hard links anywhere. */
export function withoutHardLinks(): string {
  const file = path.join(scratch(), 'preload.mjs');
  fs.writeFileSync(
    file,
    `import fs from 'node:fs';
     import { syncBuiltinESMExports } from 'node:module';
     fs.linkSync = () => {
       throw Object.assign(new Error('EPERM: link'), { code: 'EPERM', syscall: 'link' });
     };
     syncBuiltinESMExports();`,
  );
  return `--import=${file}`;
}
