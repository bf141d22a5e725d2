import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { PROJECT, filesBelow } from '../files-below.ts';

const IMPORTED =
  /^(import type|import|export)\b[^;]*?from '(@ai-sdk\/[^']+|ai)'|\b(import)\('(@ai-sdk\/[^']+|ai)'\)/gms;

test('the libraries of the vendors are named in model/ only, and each is loaded when it is needed', () => {
  const found = filesBelow('src', /\.ts$/).flatMap((file) =>
    [...readFileSync(path.join(PROJECT, file), 'utf8').matchAll(IMPORTED)].map(([, how, from, lazily, what]) => [
      file,
      how ?? (lazily === undefined ? undefined : 'lazily'),
      from ?? what,
    ]),
  );
  expect(found).toEqual([
    ['src/model/ai-sdk/ai-sdk-answer.ts', 'import type', '@ai-sdk/provider'],
    ['src/model/ai-sdk/ai-sdk.ts', 'import type', '@ai-sdk/provider'],
    ['src/model/ai-sdk/connections.ts', 'import type', '@ai-sdk/provider'],
    ['src/model/ai-sdk/connections.ts', 'lazily', '@ai-sdk/anthropic'],
    ['src/model/ai-sdk/connections.ts', 'lazily', '@ai-sdk/openai'],
    ['src/model/ai-sdk/connections.ts', 'lazily', '@ai-sdk/google'],
    ['src/model/ai-sdk/connections.ts', 'lazily', '@ai-sdk/openai-compatible'],
  ]);
});

test('zod describes what servers exchange, and nothing that starts a command loads it', () => {
  const users = filesBelow('src', /\.ts$/).filter((file) =>
    / from 'zod'/.test(readFileSync(path.join(PROJECT, file), 'utf8')),
  );
  expect(users.length).toBeGreaterThan(0);
  expect(users.filter((file) => !/^src\/(?:server|fleet|mcp)\//.test(file))).toEqual([]);
});
