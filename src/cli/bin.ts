#!/usr/bin/env node
import { VERSION } from '../version.ts';
import { standardStream } from './standard-stream.ts';
import { leave, start } from './start.ts';

const words = process.argv.slice(2);
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
  // Nothing else is loaded for the question that scripts ask most often.
  standardStream(process, 'stdout').write(`${VERSION}\n`);
  leave(process);
} else {
  // No top-level await: this file becomes the start of a CommonJS bundle, which Node starts faster than modules.
  void start(process, words);
}
