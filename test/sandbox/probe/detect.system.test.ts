import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { SkillError } from '../../../src/core/errors.ts';
import type { Executor, ExecutorName } from '../../../src/core/execution.ts';
import { bubblewrapExecutor, bubblewrapFingerprint } from '../../../src/sandbox/executors/bubblewrap/executor.ts';
import { ESCAPE_ATTEMPTS } from '../../../src/sandbox/probe/escape-attempts.ts';
import { chooseExecutor, examineCandidates, type ExecutorCandidate } from '../../../src/sandbox/probe/detect.ts';
import { probeExecutor, type ProbeReport } from '../../../src/sandbox/probe/probe.ts';
import { verifies } from '../../conformance/verifies.ts';
import { openExecutor } from '../open-executor.ts';
import { needs } from '../../needs.ts';

function fakeExecutor(name: ExecutorName): Executor {
  return {
    name,
    attach: async () => await Promise.reject(new Error('not to be attached')),
  };
}

function candidate(name: ExecutorName): ExecutorCandidate {
  return { name, make: () => fakeExecutor(name), fingerprint: `${name} 1` };
}

function report(executor: string, isIsolating: boolean): ProbeReport {
  const verdict = isIsolating ? ('blocked' as const) : ('open' as const);
  return {
    executor,
    isolation: 'bubblewrap',
    results: ESCAPE_ATTEMPTS.map((name) => ({ name, verdict })),
    isIsolating,
    capabilities: {
      isolation: 'bubblewrap',
      limits: {},
      hasNetworkGrants: false,
      hasInteraction: false,
      hasTerminal: false,
    },
  };
}

const missing = async (): Promise<ProbeReport> =>
  await Promise.reject(
    new SkillError({
      code: 'executor/unavailable',
      message: 'no',
      hint: 'h',
      data: { executor: 'bubblewrap', reasons: ['bubblewrap is not installed'], install: 'apt-get install bubblewrap' },
    }),
  );

describe('the choice of an executor', () => {
  const candidates = [candidate('bubblewrap'), candidate('container'), candidate('local')];

  test('a folder for temporary files that cannot be used is the reason, and what is to be changed', async () => {
    const probe = async (): Promise<ProbeReport> => {
      await rm(path.join(os.tmpdir(), 'nothing-is-here'));
      return report('bubblewrap', true);
    };
    const reasons = [`bubblewrap: the probe cannot create temporary files in "${os.tmpdir()}": ENOENT`];
    const install = 'set TMPDIR to a writable folder with free space';
    await expect(chooseExecutor('bubblewrap', { candidates, probe })).rejects.toMatchObject({
      code: 'executor/unavailable',
      data: { executor: 'bubblewrap', reasons, install },
    });
  });

  test('one of another system is unavailable without install instructions', async () => {
    await expect(chooseExecutor('macos', { candidates })).rejects.toMatchObject({
      code: 'executor/unavailable',
      message: 'the executor macos is not available on this system',
      hint: 'choose auto, which takes the first executor that isolates',
    });
  });

  verifies('EXEC-7', 'auto takes the first executor that isolates, and never another', async () => {
    const probe = async ({ name }: Executor): Promise<ProbeReport> =>
      name === 'bubblewrap' ? await missing() : await Promise.resolve(report(name, true));
    expect((await chooseExecutor('auto', { candidates, probe })).executor.name).toBe('container');
    await expect(chooseExecutor('auto', { candidates, probe: missing })).rejects.toMatchObject({
      code: 'executor/unavailable',
      hint: expect.stringContaining('apt-get install bubblewrap'),
      data: {
        executor: 'auto',
        reasons: ['bubblewrap: bubblewrap is not installed', 'container: bubblewrap is not installed'],
        install: 'apt-get install bubblewrap',
      },
    });
  });

  test('one that does not block everything is rejected, even by name, and the reason names the gaps', async () => {
    const probe = async ({ name }: Executor): Promise<ProbeReport> => await Promise.resolve(report(name, false));
    for (const choice of ['auto', 'bubblewrap'] as const)
      await expect(chooseExecutor(choice, { candidates, probe })).rejects.toMatchObject({
        code: 'executor/unavailable',
        message: expect.stringContaining('reads secrets'),
      });
  });

  test('local is chosen only by name, without a probe', async () => {
    const chosen = await chooseExecutor('local', { candidates, probe: missing });
    expect([chosen.executor.name, chosen.report]).toEqual(['local', undefined]);
  });

  test('an unknown executor is rejected', async () => {
    await expect(chooseExecutor('macos', { candidates })).rejects.toMatchObject({
      data: { reasons: ['the executor macos is not available on this system'] },
    });
  });

  test('a bug in one executor does not select another', async () => {
    const probe = async (): Promise<ProbeReport> => await Promise.reject(new TypeError('bug'));
    await expect(chooseExecutor('auto', { candidates, probe })).rejects.toThrow('bug');
  });

  test('a good report is cached for a day and a version, and ignored if its file was changed', async () => {
    const cacheDirectory = mkdtempSync(path.join(os.tmpdir(), 'skillwright-verdicts-'));
    let probes = 0;
    const made: boolean[] = [];
    const told: string[] = [];
    const onTrial = (name: string): void => void told.push(name);
    const probe = async ({ name }: Executor): Promise<ProbeReport> => {
      probes += 1;
      return await Promise.resolve(report(name, true));
    };
    const first: ExecutorCandidate = {
      ...candidate('bubblewrap'),
      make: (known) => {
        made.push(known?.isKnown === true);
        return fakeExecutor('bubblewrap');
      },
    };
    const choose = async (now: number, changed: Partial<ExecutorCandidate> = {}): Promise<number> => {
      await chooseExecutor('auto', { candidates: [{ ...first, ...changed }], cacheDirectory, now, probe, onTrial });
      return probes;
    };
    const day = 86_400_000;
    expect([await choose(day), await choose(2 * day - 1), await choose(2 * day), await choose(1)]).toEqual([
      1, 1, 2, 3,
    ]);
    // Whoever is not probed is told that it need not be tried out either.
    expect(made).toEqual([false, true, false, false]);
    expect(told).toEqual(['bubblewrap', 'bubblewrap', 'bubblewrap']);
    expect([await choose(2), await choose(2, { fingerprint: 'bubblewrap 2' })]).toEqual([3, 4]);
    const file = path.join(cacheDirectory, 'probe-bubblewrap.json');
    for (const broken of [
      '',
      '{',
      '[]',
      '{"key":1}',
      readFileSync(file, 'utf8').replace('"isIsolating":true', '"isIsolating":false'),
      // Nothing was tried, or something essential is not known to be blocked.
      readFileSync(file, 'utf8').replace(/"results":\[.*?\]/, '"results":[]'),
      readFileSync(file, 'utf8').replaceAll('"blocked"', '"unknown"'),
    ]) {
      writeFileSync(file, broken);
      const before = probes;
      expect(await choose(3, { fingerprint: 'bubblewrap 2' })).toBe(before + 1);
    }
    rmSync(cacheDirectory, { recursive: true });
  });

  test('a caller without a cache folder keeps good reports, and only those', async () => {
    let isGood = false;
    let probes = 0;
    const probe = async ({ name }: Executor): Promise<ProbeReport> => {
      probes += 1;
      return await Promise.resolve(report(name, isGood));
    };
    const probed = new Map<string, ProbeReport>();
    const choose = async (changed: Partial<ExecutorCandidate> = {}): Promise<number> => {
      await chooseExecutor('auto', { candidates: [{ ...candidate('bubblewrap'), ...changed }], probed, probe });
      return probes;
    };
    await expect(choose()).rejects.toMatchObject({ code: 'executor/unavailable' });
    isGood = true;
    expect([await choose(), await choose(), await choose({ fingerprint: 'bubblewrap 2' })]).toEqual([2, 2, 3]);
  });

  test('the matrix has every candidate, with its verdicts or the reasons there are none', async () => {
    const probe = async ({ name }: Executor): Promise<ProbeReport> =>
      name === 'bubblewrap' ? await Promise.resolve(report(name, true)) : await missing();
    const examined = await examineCandidates({ candidates: candidates.slice(0, 2), probe });
    expect(examined.map(({ name, reasons, report: found }) => [name, reasons, found?.isIsolating])).toEqual([
      ['bubblewrap', [], true],
      ['container', ['bubblewrap is not installed'], undefined],
    ]);
  });
});

describe('escape attempts', () => {
  // Of what they try, an open executor must let through what needs no rights: otherwise they prove nothing.
  test('find an executor that isolates nothing', needs('linux'), async () => {
    const found = await probeExecutor(openExecutor(), { home: os.tmpdir() });
    const open = found.results.filter(({ verdict }) => verdict === 'open').map(({ name }) => name);
    expect(open).toEqual(
      expect.arrayContaining([
        'writes outside',
        'reads secrets',
        'tcp to this machine',
        'udp to this machine',
        'unix socket by path',
        'abstract unix socket',
        'environment of other processes',
        'kills other processes',
        'leaves a setuid file',
        'more memory than allowed',
        'more processes than allowed',
        'more disk than allowed',
      ]),
    );
    expect(found.isIsolating).toBe(false);
  });

  test('are all blocked by bubblewrap', needs('bubblewrap'), async () => {
    const found = await probeExecutor(bubblewrapExecutor(), { home: os.tmpdir() });
    expect(found).toEqual({
      executor: 'bubblewrap',
      isolation: 'bubblewrap',
      results: ESCAPE_ATTEMPTS.map((name) => ({ name, verdict: 'blocked' })),
      isIsolating: true,
      capabilities: expect.objectContaining({ isolation: 'bubblewrap', temporaryBytes: 80 * 1024 * 1024 }),
    });
  });

  test('the fingerprint follows what is asked of bubblewrap', () => {
    expect(bubblewrapFingerprint()).toBe(bubblewrapFingerprint({}));
    expect(bubblewrapFingerprint({ controlGroups: false })).not.toBe(bubblewrapFingerprint());
    expect(bubblewrapFingerprint({ command: '/nonexistent' })).not.toBe(bubblewrapFingerprint());
  });
});
