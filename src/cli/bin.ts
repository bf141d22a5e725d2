#!/usr/bin/env node
import { VERSION } from '../version.ts';
import { standardStream } from './terminal/standard-stream.ts';

const words = process.argv.slice(2);
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
  standardStream(process, 'stdout').write(`${VERSION}\n`);
} else {
  const { start } = await import('./start.ts');
  await start(process, words);
}
