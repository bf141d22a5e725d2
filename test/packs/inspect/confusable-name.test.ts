import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { editDistance } from '../../../src/core/nearest.ts';
import { openNameComparison, openNameCheck, listSkeletons } from '../../../src/packs/inspect/confusable-name.ts';

const looksOfName = (name: string, installed: readonly string[]) => openNameComparison(installed)(name);
const checkName = (name: string, installed: readonly string[]) => openNameCheck(installed)(name);

describe('openNameComparison', () => {
  test.each([
    ['pаypal-forms', 'paypal-forms', 'a Cyrillic a'],
    ['ρdf', 'pdf', 'a Greek rho'],
    ['pdf-too1s', 'pdf-tools', 'a one'],
    ['PDF-TOOIS', 'pdf-tools', 'a capital I'],
    ['g0ogle', 'google', 'a zero'],
    ['modern-ui', 'modem-ui', 'rn and m'],
    ['vvord', 'word', 'two v'],
    ['pdf_tools', 'pdf-tools', 'an underscore'],
    ['pdf‐tools', 'pdf-tools', 'another hyphen'],
    ['ｐｄｆ', 'pdf', 'wide letters'],
    ['rés-umé', 'res-ume', 'accents'],
    ['Pdf', 'pdf', 'capitals'],
    ['ехсеl', 'excel', 'nearly all Cyrillic'],
  ])('%s looks like %s: %s', (name, other) => {
    expect(looksOfName(name, [other, 'unrelated']).same).toEqual([other]);
    expect(looksOfName(other, [name, 'unrelated']).same).toEqual([name]);
  });

  test('a name does not match itself or unrelated names', () => {
    const names = [
      'pdf',
      'docx',
      'xlsx',
      'pptx',
      'skill-creator',
      'mcp-builder',
      'frontend-design',
      'webapp-testing',
    ].concat([
      'canvas-design',
      'theme-factory',
      'internal-comms',
      'brand-guidelines',
      'doc-coauthoring',
      'slack-gif-creator',
      'algorithmic-art',
      '数据分析',
      '图像处理',
      'данные',
    ]);
    for (const name of names) expect(looksOfName(name, names), name).toEqual({ same: [], near: [], isMixed: false });
  });

  test('one letter away is near, from six letters on; a swap is one step', () => {
    expect(looksOfName('pdf-form', ['pdf-forms', 'pdf-from', 'pdf']).near).toEqual(['pdf-forms', 'pdf-from']);
    expect(looksOfName('docs', ['doc', 'dogs']).near).toEqual([]);
  });

  test('thousands of names are compared with thousands', () => {
    const names = Array.from({ length: 2000 }, (_, at) => `skill-number-${String(at).padStart(6, '0')}-x`);
    const looksOf = openNameComparison(names);
    expect(names.slice(0, 100).filter((name) => looksOf(name).near.length === 0)).toEqual([]);
  });

  test('mixed scripts in a word are reported, except East Asian ones', () => {
    expect(looksOfName('pаypal', []).isMixed).toBe(true);
    expect(looksOfName('3d模型-tool', []).isMixed).toBe(false);
    expect(looksOfName('pdf-данные', []).isMixed).toBe(false);
  });
});

describe('openNameCheck', () => {
  test('a name that looks like an installed one is refused, with its code points', () => {
    expect(checkName('pаypal', ['paypal'])).toEqual({
      refusal: {
        type: 'refused',
        code: 'install/homoglyph',
        message: 'the name "pаypal" (U+0430) looks like "paypal", which is installed',
        hint: 'it may imitate the installed skill: check the name; to use this one instead, uninstall the other skill first',
      },
      notes: ['the name "pаypal" mixes letters of different scripts'],
    });
  });

  test('a similar name is only noted, and the same name is accepted', () => {
    expect(checkName('pdf-form', ['pdf-forms'])).toEqual({
      notes: ['the name "pdf-form" is one letter away from "pdf-forms", which is installed'],
    });
    expect(checkName('pdf', ['pdf', 'docx'])).toEqual({ notes: [] });
  });

  test('hostile names are safe to print and cost nothing', () => {
    const hostile = `\u001b[2J${'rn'.repeat(50_000)}\u202e`;
    const { notes, refusal } = checkName(hostile, ['paypal', hostile.replace('rn', 'm')]);
    expect([...notes, refusal?.message ?? ''].join('')).not.toMatch(/[\u001b\u202e]/);
  });

  test('whatever the names: looking alike goes both ways, and a name looks like itself', () => {
    const name = fc.string({
      unit: fc.constantFrom('a', 'а', 'r', 'n', 'm', '1', 'l', 'I', 'o', '0', '-', '_', 'é'),
      maxLength: 8,
    });
    fc.assert(
      fc.property(name, name, (one, other) => {
        expect(looksOfName(one, [other]).near).toEqual(
          Math.min(one.length, other.length) >= 6 && looksOfName(one, [other]).same.length === 0
            ? [other].filter(() => editDistance(one, other, 1) === 1)
            : [],
        );
        expect(looksOfName(one, [other]).same.length).toBe(looksOfName(other, [one]).same.length);
        expect(listSkeletons(one).every((skeleton) => listSkeletons(skeleton).includes(skeleton))).toBe(true);
      }),
    );
  });
});
