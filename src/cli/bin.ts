#!/usr/bin/env node
import { VERSION } from '../version.ts';
import { enableCodeCache } from './code-cache.ts';
import { standardStream } from './terminal/standard-stream.ts';

const words = process.argv.slice(2);
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
  standardStream(process, 'stdout').write(`${VERSION}\n`);
} else {
  if (!words.includes('--no-cache')) enableCodeCache(process);
  // CommonJS has no top-level await. A rejection ends the process with its stack.
  void import('./start.ts').then(async ({ start }) => start(process, words));
}
