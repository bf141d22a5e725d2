import net from 'node:net';
import path from 'node:path';
import { expect, test, vi } from 'vitest';

import { createRuntime } from '../../../src/runtime/runtime.ts';
import { skillText, temporaryFolder, writeFiles } from '../../cli/run-cli.ts';
import { verifies } from '../../conformance/verifies.ts';

const folder = temporaryFolder();
writeFiles(folder, {
  '.agent/skills/pdf-forms/SKILL.md': skillText('pdf-forms', 'Fills in PDF forms. Use when a form must be filled.'),
  '.agent/skills/hidden-one/SKILL.md': skillText('hidden-one', 'Fills in secret forms.'),
  '.agent/config.json': '{"skill_visibility": {"hidden-one": "disabled"}}',
});
const runtime = await createRuntime({ cwd: folder, home: path.join(folder, 'home'), env: {} });

verifies(
  ['SRCH-1', 'SRCH-2'],
  'search is ready with the index, opens no connection, and finds no disabled skill',
  async () => {
    const connect = vi.spyOn(net.Socket.prototype, 'connect').mockImplementation(() => {
      throw new Error('a connection was opened');
    });
    const found = await runtime.searchSkills('fill a form');
    connect.mockRestore();
    expect(found.map(({ name, source }) => [name, source])).toEqual([['pdf-forms', 'project']]);
  },
);

test('a filter by source keeps the scores', async () => {
  const [all] = await runtime.searchSkills('compare two files', 1);
  const [filtered] = await runtime.searchSkills('compare two files', 1, { source: 'BUILTIN' });
  expect(filtered).toEqual(all);
  expect(await runtime.searchSkills('compare two files', 5, { source: 'project' })).toEqual([]);
});

test('an unknown name throws with the nearest ones', () => {
  expect(() => runtime.find('pdf-form')).toThrow(
    expect.objectContaining({ code: 'skill/unknown', data: { name: 'pdf-form', nearest: ['pdf-forms'] } }),
  );
});

test('a configured name that matches no skill is named', async () => {
  writeFiles(folder, { 'odd/.agent/config.json': '{"skill_visibility": {"no-such-skill": "pinned"}}' });
  const odd = await createRuntime({
    cwd: path.join(folder, 'odd'),
    home: path.join(folder, 'home'),
    env: {},
    cache: false,
  });
  expect(odd.diagnostics.map(({ code, message }) => [code, message])).toEqual([
    ['config/unknown-skill', '"no-such-skill" matches no skill'],
  ]);
});
