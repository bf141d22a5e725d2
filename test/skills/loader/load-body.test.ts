import { linkSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { FAILURES } from '../../../src/core/failure-codes.ts';
import { listSkillFiles } from '../../../src/skills/loader/files.ts';
import { loadSkill, type IndexedSkill, type LoadBodyOptions } from '../../../src/skills/loader/load-body.ts';
import { buildIndex } from '../../../src/skills/registry/registry.ts';
import { verifies } from '../../conformance/verifies.ts';
import { rootsOf } from '../registry/support.ts';
import { digestOf, makeSkill } from './support.ts';

const REFUSE: LoadBodyOptions = { onTooLong: 'refuse' };
const CUT: LoadBodyOptions = { onTooLong: 'cut' };

function outcome(skill: IndexedSkill, options = REFUSE): unknown {
  const loaded = loadSkill(skill, options);
  return loaded.type === 'loaded' ? [loaded.text, loaded.report.truncated] : loaded.failure.code;
}

describe('the body of a skill', () => {
  verifies(
    ['DISC-2', 'DISC-4'],
    'comes without frontmatter, with a report of what was read; its files are listed beside it',
    () => {
      const skill = makeSkill({ 'scripts/run.py': 'x' }, { body: '# Größe 😀\n\nDo it.\n' });
      const file = readFileSync(path.join(skill.dir, 'SKILL.md'));
      const report = {
        path: 'SKILL.md',
        digest: digestOf(file),
        bytes: file.length,
        characters: 18,
        truncated: false,
        reference: 'skill://demo/SKILL.md',
      };
      expect(loadSkill(skill, REFUSE)).toEqual({
        type: 'loaded',
        text: '# Größe 😀\n\nDo it.\n',
        report,
        headChanged: false,
        notes: [],
        ...listSkillFiles(skill.dir),
      });
      expect(listSkillFiles(skill.dir).files.map(({ path: name }) => name)).toEqual(['SKILL.md', 'scripts/run.py']);
    },
  );

  verifies('DISC-2', 'comes as the whole file where that is asked for', () => {
    const skill = makeSkill({}, { body: '\n\n# Body\n' });
    expect(outcome(skill)).toEqual(['# Body\n', false]);
    expect(outcome(skill, { ...REFUSE, whole: true })).toEqual([
      readFileSync(path.join(skill.dir, 'SKILL.md'), 'utf8'),
      false,
    ]);
  });

  verifies(
    'FMT-8',
    'is refused beyond 500 lines or 40,000 characters, with advice, or cut at the end of a line',
    () => {
      const lines = makeSkill({}, { body: 'line\n'.repeat(501) });
      const characters = makeSkill({}, { body: `${'é'.repeat(99)}\n`.repeat(401) });
      for (const skill of [lines, characters])
        expect(loadSkill(skill, REFUSE)).toEqual({
          type: 'failed',
          failure: {
            code: 'body/too-long',
            message: 'the body of the skill "demo" has more than 500 lines or 40000 characters',
            hint: FAILURES['body/too-long'],
            nearest: [],
          },
        });
      expect(outcome(lines, CUT)).toEqual(['line\n'.repeat(500), true]);
      expect(outcome(characters, CUT)).toEqual([`${'é'.repeat(99)}\n`.repeat(400), true]);
      expect(outcome(lines, { ...REFUSE, maxLines: 501 })).toEqual(['line\n'.repeat(501), false]);
      expect(outcome(makeSkill({}, { body: `${'line\n'.repeat(500)}\n\n` }))).toEqual([
        `${'line\n'.repeat(500)}\n\n`,
        false,
      ]);
      expect(outcome(makeSkill({}, { body: 'x'.repeat(1_000_000) }), CUT)).toEqual(['x'.repeat(40_000), true]);
    },
  );

  test('that is cut keeps its frontmatter where the whole file is asked for', () => {
    const skill = makeSkill({}, { body: 'a\nb\nc\n' });
    const whole = readFileSync(path.join(skill.dir, 'SKILL.md'), 'utf8');
    expect(outcome(skill, { ...CUT, whole: true, maxLines: 2 })).toEqual([whole.replace('c\n', ''), true]);
  });

  test('is cleaned, and a note says of what', () => {
    const skill = makeSkill({}, { body: 'safe\u200B\u202E\r\ntext\u001B[31m\u{E0041}\n' });
    expect(loadSkill(skill, REFUSE)).toMatchObject({
      text: 'safe\ntext\n',
      notes: ['4 hidden or control characters were removed'],
    });
    writeFileSync(path.join(skill.dir, 'SKILL.md'), Buffer.from('---\nname: x\n---\ncaf\xe9\n', 'latin1'));
    expect(loadSkill(skill, REFUSE)).toMatchObject({
      text: 'caf\uFFFD\n',
      headChanged: true,
      notes: ['bytes that are not UTF-8 are shown as \uFFFD'],
    });
  });

  test('loads with a byte order mark and foreign line ends', () => {
    const skill = makeSkill();
    writeFileSync(path.join(skill.dir, 'SKILL.md'), '\uFEFF---\r\nname: x\r\n---\r\n\r\nBody\r\n');
    expect(loadSkill(skill, REFUSE)).toMatchObject({ text: 'Body\n', notes: [] });
    expect(loadSkill(skill, { ...REFUSE, whole: true })).toMatchObject({
      text: '---\nname: x\n---\n\nBody\n',
      notes: [],
    });
  });

  test('knows the frontmatter of the index again, and another one', async () => {
    const { dir } = makeSkill({}, { description: 'Größe. Use it.' });
    const { all } = await buildIndex({ roots: rootsOf(['here', path.dirname(dir)]) });
    const [entry] = all;
    if (entry === undefined) throw new Error('no skill was found');
    expect(loadSkill(entry, REFUSE)).toMatchObject({ text: '# Body\n', headChanged: false });
    makeSkill({}, { description: 'Another.' }, dir);
    expect(loadSkill(entry, REFUSE)).toMatchObject({ text: '# Body\n', headChanged: true });
  });
});

describe('a SKILL.md that is no longer what was indexed', () => {
  test('gives a code for each case and no content', () => {
    const place = (skill: IndexedSkill): string => path.join(skill.dir, 'SKILL.md');
    const cases: Record<string, (skill: IndexedSkill) => void> = {
      'skill/gone': ({ dir }) => rmSync(dir, { recursive: true }),
      'file/missing': (skill) => rmSync(place(skill)),
      'skill/invalid': (skill) => writeFileSync(place(skill), '# SECRET\n'),
      'path/link-outside': (skill) => {
        renameSync(place(skill), `${skill.dir}/../SECRET`);
        symlinkSync('../SECRET', place(skill));
      },
      'file/too-large': (skill) => writeFileSync(place(skill), `---\nname: x\n---\n${'x'.repeat(4 * 1024 * 1024)}`),
    };
    for (const [code, damage] of Object.entries(cases)) {
      const skill = makeSkill();
      damage(skill);
      expect(outcome(skill), code).toBe(code);
    }
    const unterminated = makeSkill();
    writeFileSync(place(unterminated), '---\nname: x\n');
    expect(outcome(unterminated)).toBe('skill/invalid');
  });

  test('may be a link inside its skill, and may have a second name in a package store', () => {
    const skill = makeSkill();
    linkSync(path.join(skill.dir, 'SKILL.md'), path.join(skill.dir, 'store.md'));
    expect(outcome(skill)).toEqual(['# Body\n', false]);
    rmSync(path.join(skill.dir, 'SKILL.md'));
    symlinkSync('store.md', path.join(skill.dir, 'SKILL.md'));
    expect(outcome(skill)).toEqual(['# Body\n', false]);
  });
});
