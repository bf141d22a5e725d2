import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { PACK_PROBLEMS } from '../../src/packs/problems.ts';
import { verifies } from '../conformance/verifies.ts';
import { runCli, skillText, temporaryFolder, writeFiles, type CliResult } from '../cli/run-cli.ts';

const GUIDE = 'one\ntwo\nthree\n';

interface World {
  readonly folder: string;
  readonly run: (...words: readonly string[]) => Promise<CliResult>;
  /** Runs a command that must succeed. */
  readonly done: (...words: readonly string[]) => Promise<void>;
  readonly installed: (file: string) => string;
}

/** A project with the skill `tables` installed from `./source`. */
async function world(): Promise<World> {
  const folder = temporaryFolder();
  for (const made of ['.git', 'home']) mkdirSync(path.join(folder, made));
  writeFiles(folder, {
    'source/tables/SKILL.md': skillText('tables', 'Works on tables.'),
    'source/tables/guide.md': GUIDE,
  });
  const run = (...words: readonly string[]): Promise<CliResult> => runCli(folder, words);
  const done = async (...words: readonly string[]): Promise<void> => {
    const { status, err } = await run(...words);
    expect({ words, status, err: status === 0 ? '' : err }).toEqual({ words, status: 0, err: '' });
  };
  await done('install', './source', '--yes');
  return { folder, run, done, installed: (file) => path.join(folder, '.agents/skills/tables', file) };
}

interface Case {
  readonly what: string;
  readonly code: keyof typeof PACK_PROBLEMS;
  readonly prepare?: (world: World) => Promise<void> | void;
  readonly words: readonly string[];
  /** A part of the hint that names what to do. */
  readonly says: string;
  /** Does what the hint says; `done` fails the test if it does not help. */
  readonly follow: (world: World) => Promise<void>;
}

const newGuide = ({ folder }: World, text: string): void => writeFiles(folder, { 'source/tables/guide.md': text });
const edit = (world: World, text: string): void => writeFileSync(world.installed('guide.md'), text);
const guide = (world: World): string => readFileSync(world.installed('guide.md'), 'utf8');
const both = (world: World): void => {
  edit(world, 'ONE\ntwo\nthree\n');
  newGuide(world, '1\ntwo\nthree\n');
};
const foreign = ({ folder }: World): void =>
  writeFiles(folder, {
    '.agents/skills/letters/SKILL.md': 'mine',
    'more/letters/SKILL.md': skillText('letters', 'Writes.'),
  });

const CASES: readonly Case[] = [
  {
    what: 'another version of an installed skill',
    code: 'install/exists',
    prepare: (at) => newGuide(at, 'new\n'),
    words: ['install', './source', '--yes'],
    says: 'run skillwright update, or replace it with --backup or --force',
    async follow(at) {
      await at.done('update', '--yes');
      newGuide(at, 'newer\n');
      await at.done('install', './source', '--yes', '--backup');
      newGuide(at, 'newest\n');
      await at.done('install', './source', '--yes', '--force');
      expect(guide(at)).toBe('newest\n');
    },
  },
  {
    what: 'a restored skill that is installed again',
    code: 'install/exists',
    async prepare({ done }) {
      await done('uninstall', 'tables', '--yes');
      await done('install', './source', '--yes');
    },
    words: ['restore', 'tables', '--yes'],
    says: 'skillwright restore NAME --force replaces it',
    follow: ({ done }) => done('restore', 'tables', '--force', '--yes'),
  },
  {
    what: 'an update over edits',
    code: 'install/edited',
    prepare(at) {
      edit(at, 'ONE\ntwo\nthree\n');
      newGuide(at, 'one\ntwo\n3\n');
    },
    words: ['update', '--yes'],
    says: '--merge merges your edits with the new version',
    async follow(at) {
      await at.done('update', '--yes', '--merge');
      expect(guide(at)).toBe('ONE\ntwo\n3\n');
      newGuide(at, 'x\n');
      await at.done('update', '--yes', '--keep');
      expect(guide(at)).toBe('ONE\ntwo\n3\n');
      newGuide(at, 'y\n');
      await at.done('update', '--yes', '--force');
      expect(guide(at)).toBe('y\n');
    },
  },
  {
    what: 'an update over a link',
    code: 'install/edited',
    prepare(at) {
      rmSync(at.installed('guide.md'));
      symlinkSync('SKILL.md', at.installed('guide.md'));
      newGuide(at, 'new\n');
    },
    words: ['update', '--yes'],
    says: 'put a file in its place and update again, or use --force',
    async follow(at) {
      for (const flag of ['--merge', '--keep'])
        expect(await at.run('update', '--yes', flag)).toMatchObject({ status: 1 });
      await at.done('update', '--yes', '--force');
      expect(guide(at)).toBe('new\n');
    },
  },
  {
    what: 'a merge of the same lines',
    code: 'install/conflict',
    prepare: both,
    words: ['update', '--yes', '--merge'],
    says: '--keep keeps your version of the file, --force takes the new one',
    async follow(at) {
      await at.done('update', '--yes', '--keep');
      expect(guide(at)).toBe('ONE\ntwo\nthree\n');
      newGuide(at, '2\n');
      await at.done('update', '--yes', '--force');
      expect(guide(at)).toBe('2\n');
    },
  },
  {
    what: 'a merge without the installed original',
    code: 'install/conflict',
    prepare(at) {
      rmSync(path.join(at.folder, '.agents/skills/.skillwright'), { recursive: true });
      edit(at, 'ONE\ntwo\nthree\n');
      newGuide(at, 'one\ntwo\n3\n');
    },
    words: ['update', '--yes', '--merge'],
    says: '--keep keeps your version of the file, --force takes the new one',
    async follow(at) {
      await at.done('update', '--yes', '--force');
      await at.done('rollback', 'tables', '--yes');
      expect(guide(at)).toBe('ONE\ntwo\nthree\n');
      await at.done('update', '--yes', '--keep');
      expect(guide(at)).toBe('ONE\ntwo\nthree\n');
    },
  },
  {
    what: 'a file in the place of a new folder',
    code: 'install/conflict',
    prepare(at) {
      writeFileSync(at.installed('references'), 'mine\n');
      writeFiles(at.folder, { 'source/tables/references/a.md': 'a\n' });
    },
    words: ['update', '--yes', '--merge'],
    says: 'rename or remove your file and update again, or use --force',
    async follow(at) {
      expect(await at.run('update', '--yes', '--keep')).toMatchObject({ status: 1 });
      rmSync(at.installed('references'));
      await at.done('update', '--yes', '--merge');
      expect(existsSync(at.installed('references/a.md'))).toBe(true);
    },
  },
  {
    what: 'an update of an unknown skill',
    code: 'install/not-installed',
    words: ['update', 'tabels', '--yes'],
    says: 'skillwright lock lists the names of this root',
    async follow({ run }) {
      expect(await run('lock')).toMatchObject({ status: 0, out: expect.stringContaining('tables') as string });
      expect(await run('lock', '--scope', 'user')).toMatchObject({ err: expect.stringContaining('home') as string });
    },
  },
  {
    what: 'a folder that was made by hand',
    code: 'install/foreign',
    prepare: foreign,
    words: ['install', './more', '--yes'],
    says: 'move it away, or use --backup or --force',
    async follow({ done, folder }) {
      await done('install', './more', '--yes', '--backup');
      const kept = readdirSync(path.join(folder, '.agents/skills/.skillwright/backups'));
      expect(kept).toEqual([expect.stringContaining('letters')]);
    },
  },
  {
    what: 'an uninstall of a folder that was made by hand',
    code: 'install/foreign',
    prepare: foreign,
    words: ['uninstall', 'letters', '--purge', '--yes'],
    says: 'uninstall it without --purge, which moves it to the trash, or use --force to delete it',
    async follow({ done }) {
      await done('uninstall', 'letters', '--yes');
      await done('restore', 'letters', '--yes');
      await done('uninstall', 'letters', '--purge', '--force', '--yes');
    },
  },
  {
    what: 'a restore over a folder that was made by hand',
    code: 'install/foreign',
    async prepare(at) {
      await at.done('uninstall', 'tables', '--yes');
      writeFiles(at.folder, { '.agents/skills/tables/SKILL.md': 'mine' });
    },
    words: ['restore', '--all', '--yes'],
    says: 'skillwright restore NAME --force',
    follow: ({ done }) => done('restore', 'tables', '--force', '--yes'),
  },
  {
    what: 'a name that differs in case',
    code: 'install/case',
    prepare: ({ folder }) =>
      writeFiles(folder, {
        '.agents/skills/Letters/SKILL.md': 'mine',
        'more/letters/SKILL.md': skillText('letters', 'Writes.'),
      }),
    words: ['install', './more', '--yes'],
    says: 'rename or uninstall the other skill',
    async follow({ run, done, folder }) {
      expect(await run('install', './more', '--yes', '--force')).toMatchObject({ status: 3 });
      rmSync(path.join(folder, '.agents/skills/Letters'), { recursive: true });
      await done('install', './more', '--yes');
    },
  },
  {
    what: 'a name that imitates another',
    code: 'install/homoglyph',
    prepare: ({ folder }) => writeFiles(folder, { 'more/x/SKILL.md': skillText('t\u0430bles', 'Works on tables.') }),
    words: ['install', './more', '--yes'],
    says: 'uninstall the other skill first',
    async follow({ done }) {
      await done('uninstall', 'tables', '--yes');
      await done('install', './more', '--yes');
    },
  },
  {
    what: 'an install that is not confirmed',
    code: 'install/refused',
    prepare: ({ folder }) => writeFiles(folder, { 'more/x/SKILL.md': skillText('letters', 'Writes.') }),
    words: ['install', './more'],
    says: 'use --yes for non-interactive runs',
    follow: ({ done }) => done('install', './more', '--yes'),
  },
  {
    what: 'a restore of what is not in the trash',
    code: 'install/trash',
    words: ['restore', 'letters', '--yes'],
    says: 'skillwright restore --list shows the trash',
    async follow({ done, run }) {
      await done('uninstall', 'tables', '--yes');
      expect(await run('restore', '--list')).toMatchObject({
        status: 0,
        out: expect.stringContaining('tables') as string,
      });
      await done('restore', 'tables', '--yes');
    },
  },
  {
    what: 'a rollback without an earlier version',
    code: 'install/trash',
    words: ['rollback', 'tables', '--yes'],
    says: 'skillwright rollback NAME --list the earlier versions',
    async follow(at) {
      newGuide(at, 'new\n');
      await at.done('update', '--yes');
      expect(await at.run('rollback', 'tables', '--list')).toMatchObject({
        out: expect.stringContaining('tables') as string,
      });
    },
  },
  {
    what: 'a folder for links that contains the root',
    code: 'install/agent',
    words: ['install', './source', '--yes', '--to', 'a/b', '--to', 'a'],
    says: 'choose another folder, or install into it with a single --to',
    follow: ({ done }) => done('install', './source', '--yes', '--to', 'a'),
  },
];

/** Codes whose hint names no command: the message has the reason. */
const REASONS = ['install/busy', 'install/root', 'install/unwritable', 'install/no-space'];

describe('hints of install/*', () => {
  for (const { what, code, prepare, words, says, follow } of CASES)
    verifies('PACK-8', `${code} for ${what} says what helps`, async () => {
      const at = await world();
      await prepare?.(at);
      const { status, err } = await at.run(...words);
      expect(status).not.toBe(0);
      expect(err).toContain(code);
      expect(err.replaceAll(/\s+/g, ' ')).toContain(says);
      await follow(at);
    });

  test('are all followed, or name no command', () => {
    const codes = Object.keys(PACK_PROBLEMS).filter((code) => /^(?:install|update)\//.test(code));
    expect([...new Set([...CASES.map(({ code }) => code), ...REASONS])].toSorted()).toEqual(codes.toSorted());
    const hints = Object.entries(PACK_PROBLEMS).filter(([code]) => REASONS.includes(code));
    expect(hints.filter(([, hint]) => /--|skillwright /.test(hint))).toEqual([]);
  });
});
