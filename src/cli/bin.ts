#!/usr/bin/env node
import { VERSION } from '../version.ts';

const words = process.argv.slice(2);
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
  // Nothing else is loaded for the question that scripts ask most often.
  process.stdout.write(`${VERSION}\n`);
} else {
  // No top-level await: this file becomes the start of a CommonJS bundle, which Node starts faster than modules.
  void import('./start.ts').then(({ start }) => start(process, words));
}
