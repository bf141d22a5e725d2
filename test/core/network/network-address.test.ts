import { isIPv4, isIPv6 } from 'node:net';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { readAddress, type AddressKind } from '../../../src/core/network/network-address.ts';
import { runs } from '../../property-runs.ts';

test.each<[AddressKind, readonly string[]]>([
  ['public', ['93.184.216.34', '1.1.1.1', '172.15.0.1', '172.32.0.1', '100.63.0.1', '100.128.0.1', '223.255.255.255']],
  ['public', ['2606:2800::1', '2001:4860:4860::8888', '::ffff:1.1.1.1', '64:ff9b::1.1.1.1', '2002:101:101::1']],
  ['loopback', ['127.0.0.1', '127.255.0.9', '0.0.0.0', '0.1.2.3', '::', '::1', '::ffff:127.0.0.1', '::127.0.0.1']],
  ['loopback', ['64:ff9b::7f00:1', '2002:7f00:1::', '::ffff:0:127.0.0.1', '0:0:0:0:0:ffff:7f00:0001']],
  ['private', ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1', '::ffff:10.0.0.1']],
  ['private', ['fd12:3456::1', 'fc00::1', 'fec0::1', '64:ff9b:1::1.1.1.1', '64:ff9b::192.168.0.1']],
  ['link-local', ['169.254.1.1', 'fe80::1', 'febf::1', '::ffff:169.254.1.1']],
  ['metadata', ['169.254.169.254', '::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe', 'fd00:ec2::254', '100.100.100.200']],
  ['metadata', ['168.63.129.16', '169.254.170.2', '192.0.0.192', 'fd20:ce:0:0::254']],
  ['multicast', ['224.0.0.1', '239.255.255.255', '255.255.255.255', 'ff02::1', '::ffff:224.0.0.1']],
  ['reserved', ['240.0.0.1', '192.0.2.1', '198.18.0.1', '203.0.113.9', '192.88.99.1']],
  ['reserved', ['2001:db8::1', '2001::1', '3fff::1', '4000::1', '1::1', '0100::1']],
])('%s: %j', (kind, addresses) => {
  expect(addresses.map((address) => [address, readAddress(address)?.kind])).toEqual(
    addresses.map((address) => [address, kind]),
  );
});

test.each([
  '',
  '1.2.3',
  '1.2.3.4.5',
  '01.2.3.4',
  '1.2.3.256',
  '1.2.3.4 ',
  '0x7f.0.0.1',
  '2130706433',
  ':::',
  '1::2::3',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '1:2:3:4:5:6:7::8',
  '12345::',
  '::1%eth0',
  '[::1]',
  '1.2.3.4::',
  '::1.2.3.4:5',
  ':'.repeat(60),
])('%j is no address', (text) => {
  expect(readAddress(text)).toBeUndefined();
});

test('what Node takes for an address is one here, in one spelling', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
      const read = readAddress(text);
      if (read === undefined) throw new Error(`not read: ${text}`);
      expect(readAddress(read.text)).toEqual(read);
      expect(read.bytes.length === 4 ? isIPv4(read.text) : isIPv6(read.text)).toBe(true);
      if (read.bytes.length === 16) {
        const standard = new URL(`http://[${text}]/`).hostname.slice(1, -1);
        expect(read.text).toBe(standard);
      }
    }),
    { numRuns: runs(1000) },
  );
});

test('what Node takes for no address is none here', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9a-f:.x%]{1,20}$/), (text) => {
      fc.pre(!text.includes('%'));
      expect(readAddress(text) !== undefined).toBe(isIPv4(text) || isIPv6(text));
    }),
    { numRuns: runs(2000) },
  );
});
