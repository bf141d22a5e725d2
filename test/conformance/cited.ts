import { readFileSync } from 'node:fs';

import { filesBelow } from '../files-below.ts';

export interface Citation {
  readonly id: string;
  readonly behaviour: string;
  readonly file: string;
}

/** Every `verifies(...)` in the tests, read from their text so that one run of one file is enough to know them all. */
export function citations(): readonly Citation[] {
  const call = /\bverifies\(\s*(\[[^\]]*\]|'[^']+')\s*,\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`([^`]*)`)/g;
  return filesBelow('test', /\.test\.ts$/).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(call)].flatMap(([, ids = '', single, double, template]) => {
      const behaviour = (single ?? double ?? template ?? '').replaceAll(/\\(.)/g, '$1');
      return [...ids.matchAll(/'([^']+)'/g)].map(([, id = '']) => ({ id, behaviour, file }));
    }),
  );
}
