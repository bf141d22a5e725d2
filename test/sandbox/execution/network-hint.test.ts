import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';

import type { AttachedWorkspace } from '../../../src/core/execution.ts';
import {
  withNetworkHint,
  type NetworkHint,
  type NetworkHintOptions,
} from '../../../src/sandbox/execution/network-hint.ts';

const ISOLATED: AttachedWorkspace['capabilities'] = {
  isolation: 'bubblewrap',
  limits: {},
  hasNetworkGrants: true,
  hasInteraction: true,
  hasTerminal: true,
};

function watch(options: Partial<NetworkHintOptions> = {}): {
  readonly hint: NetworkHint;
  readonly shown: () => string;
} {
  const shown: Buffer[] = [];
  const sink = { write: (chunk: Uint8Array) => shown.push(Buffer.from(chunk)) > 0 };
  const all = { spec: { network: [] }, capabilities: ISOLATED, code: '', ...options };
  return { hint: withNetworkHint({ stdout: sink, stderr: sink }, all), shown: () => Buffer.concat(shown).toString() };
}

test.each([
  ['curl: (6) Could not resolve host: example.org', 'example.org'],
  ['Error: getaddrinfo EAI_AGAIN registry.example.org', 'registry.example.org'],
  ['WARN  GET https://registry.example.org/vite error (EAI_AGAIN). Will retry', 'registry.example.org'],
  ["HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded", 'pypi.org'],
  ['<urlopen error [Errno -3] Temporary failure in name resolution>', 'HOST'],
  ['connect: Network is unreachable', 'HOST'],
  ['TypeError: fetch failed', 'HOST'],
])('a program that complains about the network is explained: %s', (line, host) => {
  const { hint, shown } = watch();
  // In two pieces, as a pipe delivers them.
  hint.stderr.write(Buffer.from(`before\n${line.slice(0, 20)}`));
  hint.stderr.write(Buffer.from(`${line.slice(20)}\n`));
  hint.stderr.write(Buffer.from(`${line}\n`));
  hint.stop();
  const lines = shown().split('\n');
  expect(lines.filter((each) => each.startsWith('skillwright: this program has no network'))).toHaveLength(1);
  expect(shown()).toContain(`; allow it with --allow ${host}\n`);
});

test('a script that catches the error itself and fails is told which hosts its code names', () => {
  const code = 'requests.get("https://c.example/x")';
  const hosts = (text: string, isFailed: boolean, source = code): readonly string[] => {
    const { hint } = watch({ code: source });
    hint.stdout.write(Buffer.from(text));
    hint.stop();
    return hint.refused(isFailed).map(({ host }) => host);
  };
  expect(hosts('No data. Check the network.\n', true)).toEqual(['c.example']);
  expect(hosts('1. 网络连接问题\n', true)).toEqual(['c.example']);
  expect(hosts('--retries N  after network errors\n', false)).toEqual([]);
  expect(hosts('no such file\n', true)).toEqual([]);
  expect(hosts('Check the network.\n', true, 'print(1)')).toEqual([]);
});

test('the hosts that a program missed are listed, from its messages or else from its code', () => {
  const two = watch();
  two.hint.stderr.write(
    Buffer.from('curl: (6) Could not resolve host: a.example\ncurl: (6) Could not resolve host: b.example'),
  );
  two.hint.stderr.write(Buffer.from('.org'));
  const silent = watch({ code: 'fetch("https://c.example/x")' });
  silent.hint.stdout.write(Buffer.from('EAI_AGAIN\n'));
  const fine = watch({ code: 'fetch("https://c.example/x")' });
  fine.hint.stdout.write(Buffer.from('done\n'));
  const hopeless = watch({ capabilities: { ...ISOLATED, hasNetworkGrants: false } });
  hopeless.hint.stderr.write(Buffer.from('Could not resolve host: a.example\n'));
  const hosts = [two, silent, fine, hopeless].map(({ hint }) => {
    hint.stop();
    return hint.refused(false).map(({ host }) => host);
  });
  expect(hosts).toEqual([['a.example', 'b.example.org'], ['c.example'], [], []]);
});

test('a program that falls silent and uses the network is explained early; one that serves, computes or ended is not', async () => {
  const waiting = watch({ code: 'import requests\nrequests.get(url)', waitMs: 5 });
  const computing = watch({ code: 'while True: pass', waitMs: 5 });
  const talking = watch({ code: 'npm install -g pnpm', waitMs: 20 });
  talking.hint.stdout.write(Buffer.from('working\n'));
  const serving = watch({ code: '// https://example.org\ncreateServer().listen(80)', waitMs: 5 });
  serving.hint.stdout.write(Buffer.from('serving\n'));
  const ended = watch({ code: 'curl https://example.org', waitMs: 20 });
  ended.hint.stop();
  await delay(60);
  expect([waiting, computing, talking, serving, ended].map(({ shown }) => shown())).toEqual([
    'skillwright: this program has no network; allow it with --allow HOST\n',
    '',
    'working\nskillwright: this program has no network; allow it with --allow HOST\n',
    'serving\n',
    '',
  ]);
});

test('a program with a network, or without isolation, is left alone', () => {
  const line = Buffer.from('Network is unreachable\n');
  for (const options of [
    { spec: { network: ['example.org'] } },
    { capabilities: { ...ISOLATED, isolation: 'none' } as const },
  ]) {
    const { hint, shown } = watch(options);
    hint.stderr.write(line);
    expect(shown()).toBe('Network is unreachable\n');
  }
});
