// Runs the unit and system tests on each supported line of Node. Arguments are passed on to vitest: `npm run check:nodes -- test/cli`.
import { spawnSync } from 'node:child_process';

const LINES = [20, 22, 24];
const words = process.argv.slice(2);

const results = LINES.map((line) => {
  const name = `Node ${line}`;
  console.log(`\n${name}`);
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'vitest.all.config.ts', ...words];
  const { status } = spawnSync('npx', ['-y', '-p', `node@${line}`, 'node', ...vitest], { stdio: 'inherit' });
  return { name, passed: status === 0 };
});
for (const { name, passed } of results) console.log(`${passed ? 'passed' : 'FAILED'}  ${name}`);
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;
