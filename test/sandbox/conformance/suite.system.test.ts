import { AssertionError } from 'node:assert';
import { chmodSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';

import type { AttachedWorkspace, Executor, OutputSink, ProgramEnd } from '../../../src/core/execution.ts';
import { localExecutor } from '../../../src/sandbox/executors/local.ts';
import { removeTree } from '../../../src/platform/fs/remove-tree.ts';
import { executorConformance, judgeCase, type ConformanceOptions } from '../../../src/testing.ts';
import { PROJECT } from '../../files-below.ts';
import { groupExecutor } from '../own-executor.ts';

const WAIT_MS = 30_000;

function scratchBase(): string {
  const base = mkdtempSync(path.join(os.tmpdir(), 'skillwright-suite-'));
  chmodSync(base, 0o711);
  onTestFinished(async () => {
    const deadline = Date.now() + WAIT_MS;
    while (readdirSync(base).length > 0 && Date.now() < deadline) await delay(50);
    expect(readdirSync(base)).toEqual([]);
    await removeTree(base);
  });
  return base;
}

/** Runs cases a few at a time and gives those that did not pass, with why. */
async function notPassed(
  options: Omit<ConformanceOptions, 'base'>,
  isWanted: (name: string, isIsolation: boolean) => boolean,
): Promise<Readonly<Record<string, string>>> {
  const cases = executorConformance({ ...options, base: scratchBase() });
  const waiting = cases.filter(({ name, isIsolation }) => isWanted(name, isIsolation));
  const found: Record<string, string> = {};
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const verdict = await judgeCase(next);
      if (verdict.type === 'skipped') found[next.name] = `skipped: ${verdict.reason}`;
      // Not for another reason than what the case is about.
      if (verdict.type === 'failed')
        found[next.name] = verdict.error instanceof AssertionError ? 'failed' : `broken: ${String(verdict.error)}`;
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  return found;
}

type Change = (attached: AttachedWorkspace) => Partial<AttachedWorkspace>;

/** The local executor with something done wrongly. */
function spoiled(change: Change): Executor {
  const inner = localExecutor();
  return {
    ...inner,
    attach: async (place) => {
      const attached = await inner.attach(place);
      return { ...attached, ...change(attached) };
    },
  };
}

const withEnd =
  (alter: (end: ProgramEnd) => ProgramEnd): Change =>
  (attached) => ({ run: async (spec, streams) => alter(await attached.run(spec, streams)) });

const SECRET = 'AWS_SECRET_ACCESS_KEY';
const BROKEN: readonly (readonly [about: string, change: Change, noticedBy: string])[] = [
  [
    'hands on a variable of the host',
    (attached) => ({
      run: async (spec, streams) => await attached.run({ ...spec, env: { ...spec.env, [SECRET]: 'x' } }, streams),
    }),
    'the environment is the given one and nothing of the host',
  ],
  [
    'puts both streams into one',
    (attached) => ({ run: async (spec, streams) => await attached.run(spec, { ...streams, stderr: streams.stdout }) }),
    'what goes to stdout and to stderr stays apart',
  ],
  [
    'reads output as text',
    (attached) => ({
      run: async (spec, streams) => {
        const asText = (sink: OutputSink): OutputSink => ({
          write: (chunk) => sink.write(Buffer.from(Buffer.from(chunk).toString('utf8'))),
        });
        return await attached.run(spec, { stdout: asText(streams.stdout), stderr: asText(streams.stderr) });
      },
    }),
    'output that is no UTF-8 comes as it is',
  ],
  [
    'gives everything through a shell',
    (attached) => ({
      run: async (spec, streams) => await attached.run({ ...spec, argv: ['sh', '-c', spec.argv.join(' ')] }, streams),
    }),
    'arguments with what a shell would run reach the program as they are',
  ],
  [
    'forgets the input',
    (attached) => ({
      run: async (spec, streams) => await attached.run({ ...spec, stdin: new Uint8Array() }, streams),
    }),
    'text is read from the input',
  ],
  [
    'starts everything in the same folder',
    (attached) => ({ run: async (spec, streams) => await attached.run({ ...spec, cwd: 'work' }, streams) }),
    "a program starts in the skill's folder",
  ],
  [
    'says that every end was an exit',
    withEnd((end) => ({ ...end, reason: 'exited', exitCode: 137 })),
    'a program that dies of SIGKILL has ended by that signal',
  ],
  [
    'does not hear when it is cancelled',
    (attached) => ({
      run: async (spec, { stdout, stderr }) =>
        await attached.run({ ...spec, limits: { ...spec.limits, wallMs: 4000 } }, { stdout, stderr }),
    }),
    'a program that is cancelled is gone with all it started',
  ],
  [
    'gathers the output before it hands it on',
    (attached) => ({
      run: async (spec, streams) => {
        const kept: Buffer[] = [];
        const gather: OutputSink = { write: (chunk) => kept.push(Buffer.from(chunk)) > 0 };
        const limits = { ...spec.limits, wallMs: 4000 };
        const end = await attached.run({ ...spec, limits }, { ...streams, stdout: gather });
        for (const chunk of kept) streams.stdout.write(chunk);
        return end;
      },
    }),
    'thirty-two megabytes of output are handed on and not gathered',
  ],
  [
    'knows no limit of disk, and says it does',
    (attached) => ({
      run: async (spec, streams) => {
        const limits = { ...spec.limits, files: 1_000_000, wallMs: 4000 };
        return await attached.run({ ...spec, limits }, streams);
      },
    }),
    'too many files end the program for its disk',
  ],
];

describe('the suite notices an executor that', () => {
  test.concurrent.each(BROKEN)('%s', async (_, change, noticedBy) => {
    expect(await notPassed({ executor: () => spoiled(change) }, (name) => name === noticedBy)).toEqual({
      [noticedBy]: 'failed',
    });
  });
});

/** A plain process can do all of this; the rest its user may not do anyway, or it depends on who runs the tests. */
const OPEN_TO_PROCESSES = [
  'a program writes nothing outside its workspace',
  'a program reads no secret beside the workspace or in the home folder',
  'a program reaches no port of the host by TCP',
  'a program reaches no port of the host by UDP',
  'a program reaches no socket of the host by its path',
  'a program reaches no socket of the host by its abstract name',
  'a program reads the environment of no process of the host',
  'a program ends no process of the host',
  'a program leaves no file that runs as its owner',
  'a program sees no process of the host',
  'nothing of one program is in the next but what is in the workspace',
];

describe('isolation', () => {
  test('an executor that only says it isolates is found out', async () => {
    const liar = spoiled((attached) => ({ capabilities: { ...attached.capabilities, isolation: 'container' } }));
    const shown: Executor = {
      ...liar,
      attach: async (place) => {
        const attached = await liar.attach(place);
        // It shows no snapshot, so programs start elsewhere.
        return { ...attached, run: async (spec, streams) => await attached.run({ ...spec, cwd: 'work' }, streams) };
      },
    };
    const found = await notPassed({ executor: () => shown }, (name) => OPEN_TO_PROCESSES.includes(name));
    expect(found).toEqual(Object.fromEntries(OPEN_TO_PROCESSES.map((name) => [name, 'failed'])));
  });

  test('an executor that says it does not isolate is not asked', async () => {
    const found = await notPassed({ executor: localExecutor }, (_, isIsolation) => isIsolation);
    expect(Object.keys(found).length).toBeGreaterThan(10);
    expect(new Set(Object.values(found))).toEqual(new Set(['skipped: no isolation']));
  });
});

describe('skipping', () => {
  test('what an executor says it cannot hold is skipped with that reason, and so is what its author names', async () => {
    const modest = spoiled((attached) => ({
      capabilities: {
        ...attached.capabilities,
        limits: { wallMs: 'runtime' as const },
        hasInteraction: false,
        hasTerminal: false,
      },
    }));
    const names = new Set([
      'one file does not grow beyond its limit',
      'an empty folder is there',
      'closing the input is the end of input for the program',
    ]);
    const skip = { 'an empty folder is there': 'not today' };
    expect(await notPassed({ executor: () => modest, skip }, (name) => names.has(name))).toEqual({
      'one file does not grow beyond its limit': 'skipped: local does not enforce fileBytes here',
      'an empty folder is there': 'skipped: not today',
      'closing the input is the end of input for the program': 'skipped: local does not support interaction here',
    });
  });

  test('an unknown case name is rejected', () => {
    const skip = { 'no such case': 'why' };
    expect(() => executorConformance({ executor: localExecutor, base: '/nowhere', skip })).toThrow(
      'cannot skip the unknown case "no such case"',
    );
  });
});

describe('the executor of the documentation', () => {
  const page = readFileSync(path.join(PROJECT, 'docs/executor-suite.md'), 'utf8');
  const [example = '', use = ''] = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code);

  test('matches the executor that the tests run', () => {
    const own = readFileSync(path.join(PROJECT, 'test/sandbox/own-executor.ts'), 'utf8');
    expect(example).toBe(own.replaceAll('../../src/testing.ts', 'skillwright/testing'));
  });

  test('passes every case but those it says it does not', async () => {
    const skip = Object.fromEntries(
      [...use.matchAll(/^ {2}'(.+)': \w+,$/gm)].map(([, name = '']) => [name, 'by the page']),
    );
    const found = await notPassed({ executor: groupExecutor, skip }, (_, isIsolation) => !isIsolation);
    expect(Object.entries(found).filter(([, why]) => !why.startsWith('skipped: '))).toEqual([]);
    expect(Object.keys(skip).length).toBeGreaterThan(0);
    expect(
      Object.keys(found)
        .filter((name) => found[name] === 'skipped: by the page')
        .sort(),
    ).toEqual(Object.keys(skip).sort());
  });
});
