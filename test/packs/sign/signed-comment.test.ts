import fc from 'fast-check';
import { expect, test } from 'vitest';

import { formatPackComment, isSignableVersion, parsePackComment } from '../../../src/packs/sign/sign.ts';

const sha256 = 'a'.repeat(64);
const time = '2026-01-31T12:00:00Z';

test('names, versions, hash and time are one line', () => {
  const comment = {
    skills: [
      { name: 'a', version: '1.0' },
      { name: 'b-c', version: '2.1-rc.1' },
    ],
    sha256,
    time,
  };
  const line = `skillwright pack name=a,b-c version=1.0,2.1-rc.1 sha256=${sha256} time=${time}`;
  expect(formatPackComment(comment)).toBe(line);
  expect(parsePackComment(line)).toEqual(comment);
});

test('formatted values can be parsed', () => {
  const skill = fc.record({
    name: fc.stringMatching(/^[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,2}$/),
    version: fc.stringMatching(/^[0-9]{1,3}(\.[0-9]{1,3}){0,3}(-[a-z]{1,5})?$/),
  });
  const skills = fc.uniqueArray(skill, { minLength: 1, maxLength: 5, selector: ({ name }) => name });
  fc.assert(
    fc.property(skills, (list) => {
      const comment = { skills: list, sha256, time };
      expect(parsePackComment(formatPackComment(comment))).toEqual(comment);
    }),
  );
});

test.each([
  '',
  'timestamp:1700000000 file:demo.zip hashed',
  `skillwright pack name=a version=1.0 sha256=${sha256}`,
  `skillwright pack name=a version=1.0 sha256=${sha256} time=${time} `,
  ` skillwright pack name=a version=1.0 sha256=${sha256} time=${time}`,
  `skillwright pack name=a,b version=1.0 sha256=${sha256} time=${time}`,
  `skillwright pack name=a,a version=1.0,1.0 sha256=${sha256} time=${time}`,
  `skillwright pack name=../a version=1.0 sha256=${sha256} time=${time}`,
  `skillwright pack name=a version=1.0;rm sha256=${sha256} time=${time}`,
  `skillwright pack name=a version=1.0 sha256=${sha256.toUpperCase()} time=${time}`,
  `skillwright pack name=a version=1.0 sha256=${sha256} time=yesterday`,
  `skillwright pack name=a version=1.0 sha256=${sha256} time=2026-13-31T12:00:00Z`,
])('%j names no skills', (line) => {
  expect(parsePackComment(line)).toBeUndefined();
});

test('a version with a comma or a space cannot be signed for', () => {
  expect(
    ['1.0', '2026.01', 'v1', '1.0+b', '1,0', '1 0', '', '-1', `1${'0'.repeat(70)}`].map(isSignableVersion),
  ).toEqual([true, true, true, true, false, false, false, false, false]);
});
