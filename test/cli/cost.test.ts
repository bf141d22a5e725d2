import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { openSkillTools } from '../../src/packs/open-runtime.ts';
import { verifies } from '../conformance/verifies.ts';
import { scratch } from '../skills/registry/support.ts';
import { runtimeOver, writeThree } from '../runtime/support.ts';
import { cli } from './run-cli.ts';

verifies(
  'DISC-5',
  'cost prints what is carried at rest, and what loading a skill with its documents would add',
  async () => {
    const root = scratch();
    writeThree(root);
    const rest = JSON.parse((await cli(root, ['cost', '--json', '--root', root, '--only-root'])).out);
    expect(rest).toMatchObject({ schema: 1, vocabulary: 'skillwright', ledger: { rows: [] } });
    const { rules, guidance, catalog, tools, total, variants } = rest.standing;
    expect(total).toBe(rules + guidance + catalog + tools);
    const tokens = variants.map((variant: { tokens: number }) => variant.tokens);
    expect([tokens[0], Math.max(...tokens)]).toEqual([total, total]);
    expect(variants.at(-1)).toEqual({ execution: false, host: false, tokens: expect.any(Number) });
    expect(rest.standing.skills.map(({ name }: { name: string }) => name).toSorted()).toEqual([
      'alpha',
      'beta',
      'gamma',
    ]);

    const loaded = JSON.parse((await cli(root, ['cost', 'alpha', '--json', '--root', root, '--only-root'])).out);
    const files = loaded.ledger.rows.filter(({ path: file }: { path: string }) => file !== '');
    expect(files.map((row: { path: string; reason: string }) => [row.path, row.reason])).toEqual([
      ['SKILL.md', 'load'],
      ['references/one.md', 'document'],
      ['references/two.md', 'document'],
    ]);
    const text = await cli(root, ['cost', 'alpha', '--root', root, '--only-root']);
    expect(text.status).toBe(0);
    expect(text.out).toContain('alpha references/one.md');
    expect(text.out).toMatch(
      /Every request of a run: about \d+ tokens\n  rules \d+, guidance \d+, catalog \d+, tools \d+\n +\d+  with programs and project files\n/,
    );
  },
);

test('cost reads the events of a run, and names the line of one that is none', async () => {
  const root = scratch();
  writeThree(root);
  const skills = await openSkillTools({ runtime: await runtimeOver(root) });
  await skills.call('load_skill', { skill: 'beta' });
  const file = path.join(root, 'events.jsonl');
  writeFileSync(file, skills.session.events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  expect(JSON.parse((await cli(root, ['cost', '--events', file, '--json'])).out)).toEqual({
    schema: 1,
    ledger: skills.session.ledger,
  });
  writeFileSync(file, '{"type":"turn-start"}\nnot json\n');
  const broken = await cli(root, ['cost', '--events', file]);
  expect([broken.status, broken.out]).toEqual([1, '']);
  expect(broken.err).toContain('line 2 is not a session event: it is not JSON');
  const absent = await cli(root, ['cost', '--events', path.join(root, 'nothing.jsonl')]);
  expect([absent.status, absent.out]).toEqual([1, '']);
});

test('cost of a skill that is not there names the nearest', async () => {
  const root = scratch();
  const { status, err } = await cli(root, ['cost', 'text-dif']);
  expect(status).toBe(1);
  expect(err).toContain('did you mean text-diff?');
});
