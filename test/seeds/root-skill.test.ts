/** A SKILL.md that lies in a root itself: the systems whose skills are the folders of a root do not know it. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { VOCABULARY_NAMES } from '../../src/core/vocabulary-names.ts';
import { createRuntime } from '../../src/runtime/runtime.ts';
import { SHARED_CACHE } from '../cli/run-cli.ts';
import { scratch, writeSkill } from '../skills/registry/support.ts';

test('a SKILL.md in the root itself is a skill only where the system walks the root, and the report names it', async () => {
  const root = scratch();
  writeSkill(path.join(root, 'pdf'), { description: 'Reads PDF files.', body: '# PDF\n' });
  writeFileSync(path.join(root, 'SKILL.md'), `---\nname: ${path.basename(root)}\ndescription: The root.\n---\nRoot.\n`);
  const found: unknown[] = [];
  for (const vocabulary of VOCABULARY_NAMES) {
    const options = { cwd: root, home: undefined, env: SHARED_CACHE, roots: [root], onlyRoots: true, vocabulary };
    const { index } = await createRuntime(options);
    const session = await (await createRuntime(options)).startSession({});
    const names = [index, session.index].map(({ skills }) =>
      skills.map(({ dir }) => path.relative(root, dir)).toSorted(),
    );
    found.push([vocabulary, ...names, index.report.leftOut.map((one) => one.path)]);
    await session.close();
  }
  const both = ['', 'pdf'];
  const file = path.join(root, 'SKILL.md');
  expect(found).toEqual([
    ['skillwright', both, both, []],
    ['openseed', ['pdf'], ['pdf'], [file]],
    ['trpc', both, both, []],
    ['manusx', ['pdf'], ['pdf'], [file]],
    ['skills-agent', ['pdf'], ['pdf'], [file]],
  ]);
});
