/** The shells of openseed and ManusX, about whose output and surroundings the documents say nothing. */
import path from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import type { RunResult } from '../../src/core/outputs.ts';
import { openSkillTools } from '../../src/packs/open-runtime.ts';
import { runCli } from '../cli/run-cli.ts';
import { needs } from '../needs.ts';
import { runtimeOver } from '../runtime/support.ts';
import { knownExecutor } from '../sandbox/known-executor.ts';
import { SANDBOXES } from '../sandbox/sandbox.ts';
import { scratch } from '../skills/registry/support.ts';
import { write } from './skills-agent-place.ts';

const SHELLS = [
  ['openseed', 'run_shell_command'],
  ['manusx', 'shell_exec'],
] as const;

function skillsRoot(): string {
  const root = path.join(scratch(), 'skills');
  write(root, 'demo-skill/SKILL.md', '---\nname: demo-skill\ndescription: Writes files.\n---\n\n# Demo\n');
  return root;
}

describe.each(SHELLS)('%s', (vocabulary, tool) => {
  const open = async (
    executor: Parameters<typeof knownExecutor>[0],
  ): Promise<(command: string) => Promise<RunResult>> => {
    const runtime = await runtimeOver(skillsRoot());
    const execution = { executor: knownExecutor(executor), artifacts: false } as const;
    const { call, session } = await openSkillTools({ vocabulary, runtime, execution });
    onTestFinished(() => session.close());
    return async (command) => {
      const { value } = await call(tool, { command });
      return (vocabulary === 'manusx' ? (value as { data: RunResult }).data : value) as RunResult;
    };
  };

  test('the output of a command comes without control and invisible characters and up to 16 KiB, and a file has every byte', async () => {
    const run = await open('local');
    const odd = await run(String.raw`printf 'a\033[31mred\033[0m\xe2\x80\x8bb\r\n10%%\r20%%\r\n'`);
    expect(odd.stdout).toBe('aredb\n10%\n20%\n');
    const long = await run('seq 1 20000');
    expect([long.stdout.startsWith('1\n2\n'), long.stdout.endsWith('19999\n20000\n')]).toEqual([true, true]);
    expect(Buffer.from(long.stdout).length).toBeLessThan(17 * 1024);
    expect((await run('wc -c < "$WORKSPACE_DIR/runs/run-2/stdout.txt"')).stdout.trim()).toBe('108894');
  });

  test(
    'a command has an environment of its own, limits, and no network where it is isolated',
    needs('linux'),
    async () => {
      vi.stubEnv('CANARY_API_KEY', 'canary');
      onTestFinished(() => void vi.unstubAllEnvs());
      for (const name of ['local', ...SANDBOXES.map(([sandbox]) => sandbox)] as const) {
        const run = await open(name);
        const { stdout } = await run('echo "key $CANARY_API_KEY"; ulimit -f; grep -c -v "lo:" /proc/net/dev');
        const [environment, size, devices] = stdout.split('\n');
        // Two lines are the head of the table.
        expect([name, environment, size]).toEqual([name, 'key ', '65536']);
        if (name !== 'local') expect(devices).toBe('2');
      }
    },
  );

  test('the command line asks before a command, unless --yes is given', needs('bubblewrap'), async () => {
    const words = [
      'call',
      tool,
      JSON.stringify({ command: 'node -p 40+2' }),
      '--vocabulary',
      vocabulary,
      '--root',
      skillsRoot(),
    ];
    const flags = ['--executor', 'bubblewrap', '-q'];
    expect((await runCli(scratch(), [...words, ...flags], { HOME: scratch() })).status).toBe(3);
    const { status, out } = await runCli(scratch(), [...words, ...flags, '--yes'], { HOME: scratch() });
    expect([status, out.includes(String.raw`"stdout":"42\n"`)]).toEqual([0, true]);
  });
});
