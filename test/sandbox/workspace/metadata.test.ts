import { mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import {
  newMetadata,
  readMetadata,
  writeMetadata,
  type WorkspaceMetadata,
} from '../../../src/sandbox/workspace/metadata.ts';
import { scratch } from '../../skills/registry/support.ts';

const NOW = '2027-01-15T08:00:00.000Z';
const FULL: WorkspaceMetadata = {
  ...newMetadata(NOW),
  skills: [{ name: 'pdf', dir: '/skills/pdf', digest: `sha256-tree:${'a'.repeat(64)}`, stagedAt: NOW }],
  inputs: [
    {
      from: 'artifact://a',
      to: 'work/inputs/a',
      resolved: 'artifact://a@3',
      version: 3,
      mode: 'copy',
      pin: true,
      at: NOW,
    },
  ],
  outputs: [{ globs: ['out/**'], savedAs: ['a'], limitsHit: false, at: NOW }],
};

describe('metadata.json', () => {
  test('is read as it was written', () => {
    const root = scratch();
    expect(readMetadata(root, NOW)).toEqual({ metadata: newMetadata(NOW) });
    writeMetadata(root, FULL);
    expect(readMetadata(root, 'later')).toEqual({ metadata: FULL });
    expect(readdirSync(root)).toEqual(['metadata.json']);
  });

  test('is discarded with a warning where it is truncated or invalid', () => {
    const root = scratch();
    const file = path.join(root, 'metadata.json');
    const whole = JSON.stringify(FULL);
    const texts = [
      ...Array.from({ length: Math.floor(whole.length / 23) }, (_, at) => whole.slice(0, at * 23)),
      'null',
      '[]',
      JSON.stringify({ ...FULL, version: 2 }),
      JSON.stringify({ ...FULL, skills: [{ name: '../..', digest: 'x', stagedAt: NOW }] }),
      JSON.stringify({ ...FULL, skills: [{ ...FULL.skills[0], dir: 1 }] }),
      JSON.stringify({ ...FULL, inputs: [{ from: 1 }] }),
      JSON.stringify({ ...FULL, inputs: { length: 1 } }),
      JSON.stringify({ ...FULL, outputs: Array.from({ length: 1_001 }, () => FULL.outputs[0]) }),
    ];
    for (const text of texts) {
      writeFileSync(file, text);
      const { metadata, warning } = readMetadata(root, NOW);
      expect([metadata, warning?.startsWith('metadata.json was discarded: ')]).toEqual([newMetadata(NOW), true]);
    }
  });

  test('is not read through a link, from a folder or beyond its size, and is replaced and not followed', () => {
    const base = scratch();
    const root = path.join(base, 'root');
    mkdirSync(root);
    const file = path.join(root, 'metadata.json');
    writeFileSync(path.join(base, 'elsewhere.json'), JSON.stringify(FULL));
    symlinkSync('../elsewhere.json', file);
    expect(readMetadata(root, NOW).metadata).toEqual(newMetadata(NOW));
    writeMetadata(root, newMetadata(NOW));
    expect(JSON.parse(readFileSync(path.join(base, 'elsewhere.json'), 'utf8'))).toEqual(FULL);
    rmSync(file);
    mkdirSync(file);
    expect(readMetadata(root, NOW).warning).toBe('metadata.json was discarded: it cannot be read (file/directory)');
    rmSync(file, { recursive: true });
    writeFileSync(file, `${JSON.stringify(FULL)}${' '.repeat(5 * 1024 * 1024)}`);
    expect(readMetadata(root, NOW).warning).toBe('metadata.json was discarded: it cannot be read (file/too-large)');
  });
});
