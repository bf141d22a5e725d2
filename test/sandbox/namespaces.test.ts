import { execFileSync } from 'node:child_process';

import { describe, expect, test } from 'vitest';

import { BROKER_SCRIPT, LAUNCHER_WITH_BROKER } from '../../src/sandbox/executors/namespaces/broker-script.ts';
import { namespacePlan } from '../../src/sandbox/executors/namespaces/executor.ts';
import { PERL } from '../../src/sandbox/executors/linux/perl.ts';
import { encodePlan } from '../../src/sandbox/executors/namespaces/plan.ts';
import { sandboxEntries } from '../../src/sandbox/executors/linux/profile.ts';
import { isPresent } from '../../src/platform/fs/paths.ts';
import { PROFILE } from './profile.ts';
import { skipUnless } from '../needs.ts';

const REQUEST = {
  entries: sandboxEntries(PROFILE),
  cwd: '/workspace/skills/pdf',
  env: { PATH: '/usr/bin', LD_PRELOAD: 'a b' },
  argv: ['printf', '%s', "it's"],
  limits: { processes: 66, fileBytes: 67_108_864, openFiles: 1024, cpuSeconds: 121, dataBytes: 268_435_456 },
  hasEntry: true,
};

describe('the plan of the namespaces executor', () => {
  test('matches the reviewed golden file', async () => {
    const lines = namespacePlan(REQUEST, 4711)
      // Numbers differ by architecture.
      .map(([kind, ...words]) =>
        [kind, ...(kind === 'call' ? [words[0]] : words)].map((word) => JSON.stringify(word)).join(' '),
      );
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/namespaces.txt');
  });

  test('takes no word that would become two', () => {
    expect(() => encodePlan([['env', 'A', 'x\0write\0/\0/host']])).toThrow('contains a NUL');
    expect(
      Buffer.from(
        encodePlan([
          ['arg', 'b c'],
          ['arg', ''],
        ]),
      ).toString(),
    ).toBe('arg\0b c\0arg\0\0');
  });

  test('the launcher compiles without warnings under strict', skipUnless(isPresent(PERL), 'perl'), () => {
    const checked = execFileSync(
      PERL,
      ['-Mstrict', '-Mwarnings=FATAL,all', '-c', '-e', LAUNCHER_WITH_BROKER + BROKER_SCRIPT],
      {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    expect(checked).toBe('');
  });
});
