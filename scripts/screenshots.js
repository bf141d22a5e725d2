// Makes the pictures of docs/console.md with the system's Chromium. Needs a build: npm run build. All pictures: PICTURES= SCREENSHOTS=folder.
import { spawnSync } from 'node:child_process';

const { status } = spawnSync(
  'npx',
  ['vitest', 'run', '--config', 'vitest.system.config.ts', 'test/console/screenshots.system.test.ts'],
  {
    stdio: 'inherit',
    env: {
      SCREENSHOTS: 'docs/console',
      PICTURES: '^(?!cases|changes|install).*-wide-light$|^(?:run|report)-phone-dark$',
      ...process.env,
    },
  },
);
process.exitCode = status ?? 1;
