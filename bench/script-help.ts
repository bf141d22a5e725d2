import { mkdirSync } from 'node:fs';
import path from 'node:path';

import type { Observation } from '../src/core/observation.ts';
import type { SkillEntry } from '../src/core/skill.ts';
import { scriptsIn } from '../src/sandbox/environments/suggested-packages.ts';
import { createRuntime, type Runtime } from '../src/runtime/runtime.ts';
import type { BenchRow } from './row.ts';

const TIMEOUT_SECONDS = 30;
const AT_ONCE = 3;

/** Causes that do not count: the script did not show that it runs, and no line names what to do exactly. */
const NOT_COUNTED = [
  'unexplained',
  'raises an exception of its own',
  'runs into the time limit',
  'names no exact package',
];

/**
 * Runs every script of the given collections with `--help`, without network. Each either runs (help, or its own usage error), or ends
 * with one line that names the exact remedy. Everything else is counted apart and listed.
 */
export async function benchScriptHelp({
  collections,
  workDir,
}: {
  readonly collections: readonly string[];
  readonly workDir: string;
}): Promise<readonly BenchRow[]> {
  if (collections.length === 0)
    return [
      { name: 'scripts with --help', value: Number.NaN, unit: '', note: 'no collections: pass --collections DIR,DIR' },
    ];
  const counts = new Map<string, number>();
  for (const collection of collections) {
    const home = path.join(workDir, `help-${path.basename(collection)}`);
    mkdirSync(home, { recursive: true, mode: 0o755 });
    const runtime = await createRuntime({
      cwd: home,
      home: undefined,
      env: { TMPDIR: '/tmp' },
      roots: [collection],
      onlyRoots: true,
      cache: false,
      vouched: [collection],
    });
    const waiting = [...runtime.index.skills];
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let skill = waiting.shift(); skill !== undefined; skill = waiting.shift())
          for (const cause of await causesOf(runtime, skill)) counts.set(cause, (counts.get(cause) ?? 0) + 1);
      }),
    );
  }
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const failed = NOT_COUNTED.reduce((sum, cause) => sum + (counts.get(cause) ?? 0), 0);
  const share = 1 - failed / all;
  return [
    ...[...counts].toSorted(([, a], [, b]) => b - a).map(([name, value]) => ({ name, value, unit: 'scripts' })),
    {
      name: 'runs or names the exact remedy',
      value: share * 100,
      unit: '%',
      bound: '>= 97',
      ok: share >= 0.97,
      note: `${String(all)} scripts`,
    },
  ];
}

async function causesOf(runtime: Runtime, skill: SkillEntry): Promise<readonly string[]> {
  const causes: string[] = [];
  const session = await runtime.startSession({ execution: { packages: { isOffline: true } } });
  try {
    for (const script of scriptsIn(skill.dir)) {
      const action = {
        type: 'run_script',
        skill: skill.id,
        script,
        args: ['--help'],
        timeoutSeconds: TIMEOUT_SECONDS,
      } as const;
      const observation = await session.perform(action, { askedBy: 'person' });
      const cause = causeOf(observation);
      if (NOT_COUNTED.includes(cause)) console.error(`${cause}: ${skill.name} ${script}: ${lastLine(observation)}`);
      causes.push(cause);
    }
  } finally {
    await session.close();
  }
  return causes;
}

function causeOf(observation: Observation): string {
  if (observation.type === 'failed') return `refused before the start: ${observation.code}`;
  if (observation.type !== 'program-ran') return 'unexplained';
  const { exit_code: code, reason, warnings, stderr, stdout } = observation.result;
  if (reason === 'exited' && code === 0) return 'runs';
  const remedy = warnings.find((line) => /; (?:find the package[^;]*, then )?run: /.test(line));
  if (remedy?.includes('its package is unknown') === true) return 'names no exact package';
  if (remedy !== undefined)
    return `names the remedy: ${/^the ([\w ]+?) [^ ]+ (?:is missing|\w)/.exec(remedy)?.[1] ?? 'other'}`;
  if (reason === 'timeout')
    return /server-started|listening/i.test(stdout) ? 'runs as a server' : 'runs into the time limit';
  const output = `${stdout}\n${stderr}`;
  // Causes outside of the script: its modules, its interpreter and the sandbox.
  const isOutside =
    /^(?:\w+\.)*(?:ImportError|ModuleNotFoundError|SyntaxError|PermissionError)\b|ERR_MODULE_NOT_FOUND|Cannot find (?:module|package)|Read-only file system|Permission denied|command not found|Temporary failure in name resolution/m;
  if (isOutside.test(output) || code === 126 || code === 127) return 'unexplained';
  return /Traceback \(most recent call last\)/.test(output)
    ? 'raises an exception of its own'
    : 'runs, and shows its own usage error';
}

function lastLine(observation: Observation): string {
  if (observation.type !== 'program-ran') return observation.type;
  const { stderr, stdout } = observation.result;
  return (stderr.trim().split('\n').at(-1) ?? '') || (stdout.trim().split('\n').at(-1) ?? '');
}
