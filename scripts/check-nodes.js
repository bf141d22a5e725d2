// Runs the unit and system tests on each supported line of Node. Arguments are passed on to vitest: `npm run check:nodes -- test/cli`.
import { spawnSync } from 'node:child_process';

const LINES = [20, 22, 24];
const words = process.argv.slice(2);

const results = LINES.flatMap((line) =>
  ['vitest.config.ts', 'vitest.system.config.ts'].map((config) => {
    console.log(`\nNode ${line}, ${config}`);
    const { status } = spawnSync(
      'npx',
      [
        '-y',
        '-p',
        `node@${line}`,
        'node',
        'node_modules/vitest/vitest.mjs',
        'run',
        '--config',
        config,
        '--passWithNoTests',
        ...words,
      ],
      { stdio: 'inherit' },
    );
    return { name: `Node ${line}, ${config}`, passed: status === 0 };
  }),
);
for (const { name, passed } of results) console.log(`${passed ? 'passed' : 'FAILED'}  ${name}`);
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;
