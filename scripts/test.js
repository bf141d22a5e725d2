// The whole suite: static checks beside all tests in one run of vitest, so that neither waits for the other.
import { spawn } from 'node:child_process';

const COMMANDS = {
  'static checks': ['scripts/check.js'],
  tests: ['node_modules/vitest/vitest.mjs', 'run', '--config', 'vitest.all.config.ts'],
};

function run([name, words]) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, words, { stdio: 'inherit' });
    child.on('error', (error) => resolve({ name, problem: error.message }));
    child.on('close', (code, signal) =>
      resolve({ name, problem: code === 0 ? undefined : `ended with ${code ?? signal}` }),
    );
  });
}

const failed = (await Promise.all(Object.entries(COMMANDS).map(run))).filter(({ problem }) => problem !== undefined);
for (const { name, problem } of failed) console.log(`FAILED  ${name}: ${problem}`);
process.exitCode = failed.length === 0 ? 0 : 1;
