import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { pocket } from '../../examples/fifth-vocabulary.ts';
import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';
import { LOADED, fake } from './fake-runtime.ts';

verifies('TOOL-5', 'a fifth vocabulary takes one file', async () => {
  const { tools, call, actions } = fake(pocket);
  expect(tools.map(({ name }) => name)).toEqual(['use', 'open']);
  expect((await call('use', '{"skill": "pdf"}')).value).toBe(LOADED.text);
  expect((await call('open', { file: 'pdf/references/forms.md' })).value).toEqual({
    file: 'references/forms.md',
    text: 'one\ntwo',
  });
  expect(actions.map(({ type }) => type)).toEqual(['load_skill', 'read_resource']);
  expect((await call('use', { skill: 'pfd' })).text).toBe(
    'there is no skill called "pfd"; search for the skill, or choose one from the catalog (pdf)',
  );
  expect((await call('open', { file: '/etc/passwd' })).isError).toBe(true);
  expect(fake(pocket, {}, { skills: [] }).tools).toEqual([]);
});

test('the page shows the file as it is', () => {
  const read = (file: string): string => readFileSync(path.join(PROJECT, file), 'utf8');
  expect(read('docs/vocabularies.md')).toContain(`\`\`\`ts\n${read('examples/fifth-vocabulary.ts')}\`\`\``);
});
