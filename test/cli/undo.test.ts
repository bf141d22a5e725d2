/** `runs undo` of a run with subagents, whose records may be changed or gone. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { createRun, type RunRecord } from '../../src/journal/journal-writer.ts';
import { ownerName, thisProcess } from '../../src/platform/fs/lock-owner.ts';
import { sealKey } from '../../src/platform/fs/seal-key.ts';
import { writeFile } from '../../src/project/write-file.ts';
import { verifies } from '../conformance/verifies.ts';
import { START } from '../journal/support.ts';
import { placed } from '../project/support.ts';
import { scratch } from '../skills/registry/support.ts';
import { runCli, type CliResult } from './run-cli.ts';

interface UndoWorld {
  readonly root: string;
  readonly home: string;
  /** The records of the run, of its subagent, and of the subagent of that one. */
  readonly records: readonly RunRecord[];
  readonly undo: (...words: readonly string[]) => Promise<CliResult>;
  /** The files of the project and their content. */
  readonly files: () => Readonly<Record<string, string>>;
}

const NAMES = ['run.txt', 'child.txt', 'grandchild.txt'];

function world(): UndoWorld {
  const root = scratch();
  const home = path.join(scratch(), 'home');
  mkdirSync(home);
  writeFileSync(path.join(root, 'mine.txt'), 'grandchild.txt');
  const options = { home, sealKey: sealKey(home) };
  const records: RunRecord[] = [];
  for (const name of NAMES) {
    const parent = records.at(-1);
    const record = createRun(
      path.join(root, '.agent/runs'),
      { ...START, project: root, ...(parent === undefined ? {} : { parent: parent.id }) },
      options,
    );
    parent?.append({ type: 'subagent-start', call: 2, run: record.id, skill: 'project/deep' });
    const place = placed({ places: { project: root, workspace: root, skills: [] } }, name, 'write');
    const observation = writeFile({ type: 'write_file', path: name, content: name }, place);
    record.append({ type: 'observation', call: 1, observation });
    records.push(record);
  }
  for (const record of records.toReversed()) record.end('done', '');
  return {
    root,
    home,
    records,
    undo: (...words) => runCli(root, ['runs', 'undo', 'last', ...words], { HOME: home }),
    files: () =>
      Object.fromEntries(
        readdirSync(root)
          .filter((name) => name !== '.agent')
          .map((name) => [name, readFileSync(path.join(root, name), 'utf8')]),
      ),
  };
}

describe('runs undo', () => {
  test('undoes what subagents did', async () => {
    const at = world();
    const { status, out } = await at.undo();
    expect([status, out]).toEqual([
      0,
      `${NAMES.map((name) => `removed     ${name}\n`).join('')}3 files as before the run\n`,
    ]);
    expect(at.files()).toEqual({ 'mine.txt': 'grandchild.txt' });
  });

  for (const [depth, who] of [
    [1, 'a subagent'],
    [2, 'the subagent of a subagent'],
  ] as const)
    test.each<[string, string, (place: string) => void]>([
      [
        'names another file',
        'tampered',
        (place) => {
          const file = path.join(place, 'events.jsonl');
          writeFileSync(
            file,
            readFileSync(file, 'utf8')
              .replaceAll('"path":"grandchild.txt"', '"path":"mine.txt"')
              .replaceAll('"path":"child.txt"', '"path":"mine.txt"'),
          );
        },
      ],
      ['is gone', 'missing', (place) => rmSync(place, { recursive: true })],
      ['has no events', 'tampered', (place) => writeFileSync(path.join(place, 'events.jsonl'), '')],
      [
        'was emptied',
        'tampered',
        (place) => readdirSync(place).forEach((name) => rmSync(path.join(place, name), { recursive: true })),
      ],
      [
        'was cut back as if it had been killed',
        'tampered',
        (place) => {
          const file = path.join(place, 'events.jsonl');
          writeFileSync(file, `${readFileSync(file, 'utf8').split('\n')[0] ?? ''}\n`);
          for (const name of ['run.json', 'final.md', 'state.json']) rmSync(path.join(place, name), { force: true });
        },
      ],
      [
        'was replaced by a file',
        'unreadable',
        (place) => {
          rmSync(place, { recursive: true });
          writeFileSync(place, '');
        },
      ],
    ])(`changes no file if the record of ${who} %s`, async (_, problem, act) => {
      const at = world();
      const [run, record = expect.fail()] = [at.records[0], at.records[depth]];
      const before = at.files();
      act(record.path);
      const said = `the record of subagent ${record.id} of run ${run?.id ?? ''} is ${problem}; no file was changed`;
      for (const words of [['--dry-run'], []]) {
        const { status, out, err } = await at.undo(...words);
        expect([status, out, err.includes(said)], err).toEqual([1, '', true]);
      }
      expect(at.files()).toEqual(before);
    });

  test('removes the unfinished copies of killed processes, and no others', async () => {
    const at = world();
    const self = thisProcess();
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    const name = (owner: object): string => `.skillwright.${ownerName({ ...self, ...owner })}.0123456789abcdef.tmp`;
    const [dead, alive, elsewhere] = [name({ pid }), name({}), name({ pid, boot: '0123' })];
    const folders = [
      at.root,
      path.join(at.root, '.agent/trash'),
      path.join(at.root, '.agent/trash/99990101T000000Z-00000000'),
    ];
    for (const folder of folders) {
      mkdirSync(folder, { recursive: true });
      for (const file of [dead, alive, elsewhere]) writeFileSync(path.join(folder, file), '');
    }
    await at.undo('--dry-run');
    expect(existsSync(path.join(at.root, dead))).toBe(true);
    await at.undo();
    for (const folder of folders)
      expect(
        readdirSync(folder)
          .filter((file) => file.endsWith('.tmp'))
          .toSorted(),
      ).toEqual([alive, elsewhere].toSorted());
  });

  verifies('UNDO-1', 'of a run that continues another one takes back only what it did itself', async () => {
    const root = scratch();
    const home = path.join(scratch(), 'home');
    mkdirSync(path.join(home, '.agent'), { recursive: true });
    writeFileSync(path.join(home, '.agent/config.json'), '{"policy":{"allow":["write_file(*)"]}}');
    const sw = (...words: readonly string[]): Promise<CliResult> => runCli(root, words, { HOME: home });
    const write = (name: string, content: string): object => ({
      toolCalls: [{ name: 'write_file', input: { path: name, content } }],
    });
    const model = (...turns: readonly object[]): string => {
      writeFileSync(path.join(root, 'turns.json'), JSON.stringify({ turns }));
      return `scripted:${path.join(root, 'turns.json')}`;
    };
    const content = (name: string): string | undefined =>
      existsSync(path.join(root, name)) ? readFileSync(path.join(root, name), 'utf8') : undefined;
    const first = model(write('a.txt', 'first'), write('both.txt', 'first'));
    await sw('run', 'go', '--model', first, '--budget', 'turns=2', '-q');
    const id = readdirSync(path.join(root, '.agent/runs')).find((name) => name.startsWith('2')) ?? '';
    const next = model(write('b.txt', 'next'), write('both.txt', 'next'), { text: 'done' });
    expect((await sw('runs', 'resume', id, '--model', next, '--budget', 'turns=9', '-q')).status).toBe(0);
    expect(['a.txt', 'b.txt', 'both.txt'].map(content)).toEqual(['first', 'next', 'next']);
    const { status, out, err } = await sw('runs', 'undo', 'last');
    expect([status, out]).toEqual([0, 'removed     b.txt\nrestored    both.txt\n2 files as before the run\n']);
    expect(err).toContain(`it continues run ${id}, which is undone by: skillwright runs undo ${id}`);
    expect(['a.txt', 'b.txt', 'both.txt'].map(content)).toEqual(['first', undefined, 'first']);
    expect((await sw('runs', 'undo', id)).status).toBe(0);
    expect(['a.txt', 'b.txt', 'both.txt'].map(content)).toEqual([undefined, undefined, undefined]);
  });

  verifies('UNDO-1', 'of a record that was copied from another project leaves this one alone', async () => {
    const at = world();
    const other = scratch();
    const [run = expect.fail()] = at.records;
    for (const { id, path: place } of at.records)
      cpSync(place, path.join(other, '.agent/runs', id), { recursive: true });
    for (const name of NAMES) writeFileSync(path.join(other, name), name);
    const { status, out, err } = await runCli(other, ['runs', 'undo', run.id], { HOME: at.home });
    expect([status, out, err]).toEqual([0, expect.stringContaining('3 files as before'), `in ${at.root}\n`]);
    expect(NAMES.map((name) => existsSync(path.join(other, name)))).toEqual([true, true, true]);
    // Without the key, the project that the record names is not believed.
    const home = path.join(scratch(), 'home');
    mkdirSync(home);
    const refused = await runCli(other, ['runs', 'undo', run.id], { HOME: home });
    expect([refused.status, refused.out]).toEqual([4, '']);
    expect(refused.err).toContain('did not work in this folder; no file was changed');
  });
});
