import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  findGrant,
  readAuthority,
  readHost,
  readHostPattern,
  type HostPattern,
} from '../../../src/core/network/host-pattern.ts';
import { writeAuthority } from '../../../src/platform/net/user-proxy.ts';
import { runs } from '../../property-runs.ts';
import { isProblem } from '../../../src/core/problem.ts';
import { programGrant } from '../../../src/sandbox/execution/execution.ts';

function pattern(text: string): HostPattern {
  const read = readHostPattern(text);
  if (isProblem(read)) throw new Error(read.message);
  return read;
}

function isGranted(patterns: readonly string[], authority: string): boolean {
  const asked = readAuthority(authority);
  return asked !== undefined && findGrant(patterns.map(pattern), asked.host, asked.port) !== undefined;
}

const label = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
const name = fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => labels.join('.'));

describe('a grant', () => {
  test.each<[string, Omit<HostPattern, 'text'>]>([
    ['example.org', { host: 'example.org', kind: 'name', ports: [80, 443], isPrivate: false }],
    ['EXAMPLE.org.:8443', { host: 'example.org', kind: 'name', ports: [8443], isPrivate: false }],
    ['*.example.org:443', { host: 'example.org', kind: 'below', ports: [443], isPrivate: false }],
    ['example.org:*', { host: 'example.org', kind: 'name', ports: 'all', isPrivate: false }],
    ['bücher.example', { host: 'xn--bcher-kva.example', kind: 'name', ports: [80, 443], isPrivate: false }],
    ['*.münchen.example', { host: 'xn--mnchen-3ya.example', kind: 'below', ports: [80, 443], isPrivate: false }],
    ['93.184.216.34.', { host: '93.184.216.34', kind: 'address', ports: [80, 443], isPrivate: false }],
    ['１２７.１', { host: '127.0.0.1', kind: 'address', ports: [80, 443], isPrivate: false }],
    ['93.184.216.34:80', { host: '93.184.216.34', kind: 'address', ports: [80], isPrivate: false }],
    ['2606:2800:0:0::1', { host: '2606:2800::1', kind: 'address', ports: [80, 443], isPrivate: false }],
    ['[2606:2800::1]:443', { host: '2606:2800::1', kind: 'address', ports: [443], isPrivate: false }],
    ['private://db.intranet:5432', { host: 'db.intranet', kind: 'name', ports: [5432], isPrivate: true }],
    ['private://127.0.0.1:8080', { host: '127.0.0.1', kind: 'address', ports: [8080], isPrivate: true }],
    ['localhost:3000', { host: 'localhost', kind: 'name', ports: [3000], isPrivate: false }],
  ])('%s is understood', (text, expected) => {
    expect(readHostPattern(text)).toEqual({ text, ...expected });
  });

  test.each([
    ['', 'is neither a host name nor an IP address'],
    ['*', 'is neither a host name nor an IP address'],
    ['*.*.example.org', 'is neither a host name nor an IP address'],
    ['a*.example.org', 'is neither a host name nor an IP address'],
    ['*.org', 'would grant names of other owners'],
    ['*.co.uk', 'would grant names of other owners'],
    ['*.CO.UK.', 'would grant names of other owners'],
    ['*.github.io', 'would grant names of other owners'],
    ['*.127.0.0.1', 'is a wildcard over an address'],
    ['private://*.intranet.example', 'list private hosts one by one'],
    ['https://example.org', 'is a URL'],
    ['example.org/path', 'is a URL'],
    ['user@example.org', 'contains a user name'],
    ['private://user@example.org', 'contains a user name'],
    ['example.org:', 'needs a port from 1 to 65535'],
    ['example.org:0', 'needs a port from 1 to 65535'],
    ['example.org:080', 'needs a port from 1 to 65535'],
    ['example.org:65536', 'needs a port from 1 to 65535'],
    ['example.org:https', 'needs a port from 1 to 65535'],
    ['127.1', 'is neither a host name nor an IP address'],
    ['0x7f.1', 'is neither a host name nor an IP address'],
    ['2130706433', 'is neither a host name nor an IP address'],
    ['0177.0.0.1', 'is neither a host name nor an IP address'],
    ['example.0x10', 'is neither a host name nor an IP address'],
    ['exam ple.org', 'is neither a host name nor an IP address'],
    ['example.org\r\nx', 'is neither a host name nor an IP address'],
    ['example.org\0.evil.org', 'is neither a host name nor an IP address'],
    ['exam%70le.org', 'is neither a host name nor an IP address'],
    ['example..org', 'is neither a host name nor an IP address'],
    ['example.org..', 'is neither a host name nor an IP address'],
    ['-example.org', 'is neither a host name nor an IP address'],
    [`${'a'.repeat(64)}.org`, 'is neither a host name nor an IP address'],
    [`${'a.'.repeat(200)}org`, 'is neither a host name nor an IP address'],
    ['[fe80::1%25eth0]', 'is neither a host name nor an IP address'],
    ['[::1', 'is not a host with or without :port'],
    ['[127.0.0.1]', 'is neither a host name nor an IP address'],
  ])('%j is refused', (text, expected) => {
    const read = readHostPattern(text);
    expect(isProblem(read) ? read.message : read).toContain(expected);
  });

  test('a megabyte is refused without being taken apart', () => {
    expect(isProblem(readHostPattern('a'.repeat(1_000_000)))).toBe(true);
    expect(isProblem(readHostPattern('ü'.repeat(1_000_000)))).toBe(true);
  });
});

describe('a host that is asked for', () => {
  test.each([
    ['example.org', 'example.org:443', true],
    ['example.org', 'example.org:80', true],
    ['example.org', 'example.org:22', false],
    ['example.org:22', 'example.org:22', true],
    ['example.org:22', 'example.org:443', false],
    ['example.org:*', 'example.org:9', true],
    ['example.org', 'EXAMPLE.ORG.:443', true],
    ['example.org', 'ｅxample。org:443', true],
    ['example.org', 'www.example.org:443', false],
    ['example.org', 'notexample.org:443', false],
    ['example.org', 'example.org.evil.net:443', false],
    ['*.example.org', 'example.org:443', false],
    ['*.example.org', 'a.example.org:443', true],
    ['*.example.org', 'a.b.example.org:443', true],
    ['*.example.org', 'aexample.org:443', false],
    ['*.example.org', '.example.org:443', false],
    ['bücher.example', 'xn--bcher-kva.example:443', true],
    ['xn--bcher-kva.example', 'BÜCHER.example:443', true],
    ['127.0.0.1:80', '127.0.0.1:80', true],
    ['127.0.0.1:80', '127.1:80', false],
    ['127.0.0.1:80', '2130706433:80', false],
    ['127.0.0.1:80', '[::ffff:127.0.0.1]:80', false],
    ['127.0.0.1:80', '１２７.０.０.１:80', true],
    ['[2606:2800::1]:443', '[2606:2800:0:0:0:0:0:1]:443', true],
    ['example.org', 'user@example.org:443', false],
    ['example.org', 'example.org', false],
  ])('%s means %s: %s', (granted, asked, expected) => {
    expect(isGranted([granted], asked)).toBe(expected);
  });

  test('a name is granted by itself and by no other name', () => {
    fc.assert(
      fc.property(name, name, (one, other) => {
        expect(isGranted([one], `${one}:443`)).toBe(true);
        expect(isGranted([one], `${other}:443`)).toBe(one === other);
      }),
    );
  });

  test('a wildcard grants what ends with a dot and its name, nothing else', () => {
    fc.assert(
      fc.property(name, name, (domain, asked) => {
        const read = readHostPattern(`*.${domain}`);
        fc.pre(!isProblem(read));
        expect(isGranted([`*.${domain}`], `${asked}.${domain}:443`)).toBe(true);
        expect(isGranted([`*.${domain}`], `${domain}:443`)).toBe(false);
        expect(isGranted([`*.${domain}`], `${asked}:443`)).toBe(asked.endsWith(`.${domain}`));
      }),
    );
  });

  test('reading a host twice changes nothing, and what comes out is plain', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      name,
      fc.webAuthority(),
      fc.ipV4Extended(),
      fc.ipV6(),
    );
    fc.assert(
      fc.property(text, (given) => {
        const host = readHost(given);
        if (host === undefined) return;
        expect(host.name).toMatch(host.isAddress ? /^[0-9a-f.:]+$/ : /^[a-z0-9_.-]+$/);
        expect(readHost(host.name)).toEqual(host);
      }),
      { numRuns: runs(2000) },
    );
  });

  test('what a URL parser takes for an address is never a name here', () => {
    fc.assert(
      fc.property(fc.ipV4Extended(), (given) => {
        const host = readHost(given);
        expect(host === undefined || host.isAddress).toBe(true);
        if (host !== undefined) expect(new URL(`http://${given}`).hostname).toBe(host.name);
      }),
    );
  });

  test('an authority is written as it is read', () => {
    fc.assert(
      fc.property(fc.oneof(name, fc.ipV4(), fc.ipV6()), fc.integer({ min: 1, max: 65_535 }), (given, port) => {
        const host = readHost(given);
        if (host === undefined) throw new Error(`not read: ${given}`);
        expect(readAuthority(writeAuthority(host, port))).toEqual({ host, port });
      }),
    );
  });
});

test('programs reach services of this machine that the user grants by their plain name', () => {
  expect(['localhost', 'localhost:3000', '127.0.0.1:3000', '[::1]:80', 'localhost:*'].map(programGrant)).toEqual([
    'private://localhost',
    'private://localhost:3000',
    'private://127.0.0.1:3000',
    'private://[::1]:80',
    'private://localhost:*',
  ]);
  for (const other of [
    'private://localhost',
    '127.1:80',
    '2130706433',
    'localhost.example.org',
    '*.localhost',
    '10.0.0.1',
  ])
    expect(programGrant(other)).toBe(other);
});
