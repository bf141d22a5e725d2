import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { digestOfEntries, readTreeDigest } from '#platform';
import { stageInputs } from '../inputs/inputs.ts';
import { collectOutputs } from '../outputs/collect.ts';
import { ALONE, type CaseDefinition, conform, type Fixture, ISOLATED, prints } from './fixture.ts';
import { ALL_BYTES, OTHER_SKILL, SKILL, UNICODE_NAME, UNICODE_TEXT, writeOtherSkill } from './skill.ts';

/** Lists the skill as a program sees it, without the links into the workspace. */
const LIST_TREE = `cd "$SKILL_DIR" || exit 9
top=$(for f in *; do case $f in out|work|inputs) ;; *) echo "$f" ;; esac; done)
for part in $top; do find "$part" -type d; done; echo ---
for part in $top; do find "$part" -type f -perm -100 -exec sha256sum {} +; done; echo ---
for part in $top; do find "$part" -type f ! -perm -100 -exec sha256sum {} +; done; echo ---
for part in $top; do find "$part" -type l -exec sh -c 'for f; do printf "%s -> " "$f"; readlink "$f"; done' sh {} +; done`;

/** Computes the digest of the skill from the output of a program inside. */
async function digestInside(fixture: Fixture): Promise<string> {
  const [folders = '', programs = '', files = '', links = ''] = (await fixture.print(LIST_TREE)).split('---\n');
  const lines = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');
  const hashed = (text: string, kind: 'program' | 'file'): readonly Parameters<typeof digestOfEntries>[0][number][] =>
    lines(text).map((line) => ({ kind, path: line.slice(66), content: Buffer.from(line.slice(0, 64), 'hex') }));
  return digestOfEntries([
    ...lines(folders).map((name) => ({ kind: 'folder', path: name, content: new Uint8Array() }) as const),
    ...hashed(programs, 'program'),
    ...hashed(files, 'file'),
    ...lines(links).map((line) => {
      const [name = '', target = ''] = line.split(' -> ');
      return { kind: 'link', path: name, content: Buffer.from(target) } as const;
    }),
  ]);
}

async function digestOnHost(folder: string): Promise<string> {
  const found = await readTreeDigest(folder);
  return found.type === 'digest' ? found.digest : found.type;
}

/** Attempts to change a skill; each runs regardless of the others. */
const SPOIL = `cd "$SKILL_DIR"
echo spoiled >> SKILL.md; echo spoiled > scripts/hello.sh; echo new > new; rm -f assets/all-bytes.bin
chmod 777 . scripts scripts/hello.sh; mv SKILL.md gone; ln -sf /etc/passwd assets/link; rmdir empty
chmod 777 SKILL.md && echo spoiled >> SKILL.md; cd .. && mv ${SKILL} moved; rm -rf ${SKILL}; true`;

const CONTENTS = `cd "$SKILL_DIR" && find . -type f -exec sha256sum {} + | sort`;

function linkCase(link: string, leadsTo: string): CaseDefinition {
  return conform(
    'EXEC-1',
    `what a program writes to ${link}/ in the skill's folder is in ${leadsTo}/ of the workspace`,
    async (fixture) => {
      const name = `through-${link}.txt`;
      await fixture.mustSucceed(`printf text > ${link}/${name}`);
      assert.equal(fixture.read(`${leadsTo}/${name}`)?.toString('utf8'), 'text');
    },
  );
}

function writableCase(what: string, variable: string): CaseDefinition {
  return conform('EXEC-1', `${what} can be written, and the host sees the bytes`, async (fixture) => {
    const { runFolder } = await fixture.mustSucceed(
      `mkdir -p "$${variable}/deep/er" && cat assets/all-bytes.bin > "$${variable}/deep/er/file.bin" && chmod 700 "$${variable}/deep"`,
    );
    const folder = { WORK_DIR: 'work', OUTPUT_DIR: 'out' }[variable] ?? runFolder;
    assert.deepEqual(fixture.read(`${folder}/deep/er/file.bin`), Buffer.from(ALL_BYTES));
  });
}

const SPOILED = { isIsolation: true, ownWorkspace: true };

export const STAGING_CASES: readonly CaseDefinition[] = [
  conform('EXEC-1', 'a program sees the skill exactly as it was staged, by the digest of the tree', async (fixture) => {
    assert.equal(await digestInside(fixture), fixture.staged.digest);
    assert.equal(await digestOnHost(fixture.skillSource), fixture.staged.digest);
  }),
  prints(
    'EXEC-1',
    'a file that may be executed can be, and another cannot',
    'scripts/hello.sh; [ ! -x scripts/plain.sh ] && [ ! -x SKILL.md ]',
    'hello from hello.sh\n',
  ),
  prints('EXEC-1', 'a binary file is the same byte for byte', 'cat assets/all-bytes.bin', ALL_BYTES),
  conform('EXEC-1', 'a name with spaces, umlauts, Chinese and an emoji is found', async (fixture) => {
    assert.equal((await fixture.run(['cat', UNICODE_NAME])).text, UNICODE_TEXT);
  }),
  prints('EXEC-1', 'an empty folder is there', '[ -d empty ] && ls -A empty', ''),
  prints('EXEC-1', 'a file without a byte is there', '[ -f assets/nothing ] && [ ! -s assets/nothing ]', ''),
  conform('EXEC-1', 'a copy of a file or folder of the skill can be changed', async (fixture) => {
    await fixture.mustSucceed(
      'cp SKILL.md work/copy.md && echo more >> work/copy.md && cp -r references work/copied && echo x > work/copied/new',
    );
    assert.match(fixture.read('work/copy.md')?.toString('utf8') ?? '', /more\n$/);
  }),
  prints(
    'EXEC-1',
    'a link inside the skill leads to its file',
    '[ -L references/link.bin ] && cat references/link.bin',
    ALL_BYTES,
  ),
  linkCase('out', 'out'),
  linkCase('work', 'work'),
  linkCase('inputs', 'work/inputs'),
  writableCase('the folder for work', 'WORK_DIR'),
  writableCase('the folder for output', 'OUTPUT_DIR'),
  writableCase('the folder of the run', 'RUN_DIR'),
  conform('EXEC-1', 'a program cannot change the skill it runs from', SPOILED, async (fixture) => {
    await fixture.mustSucceed(SPOIL);
    assert.equal(await digestInside(fixture), fixture.staged.digest);
  }),
  conform(
    'EXEC-1',
    'a program cannot change names and contents of the skill it runs from',
    SPOILED,
    async (fixture) => {
      const before = await fixture.print(CONTENTS);
      await fixture.mustSucceed(SPOIL);
      assert.equal(await fixture.print(CONTENTS), before);
    },
  ),
  conform(
    'EXEC-1',
    "a program that spoils its skill spoils neither the skill's own folder nor the next workspace",
    ALONE,
    async (fixture) => {
      await fixture.mustSucceed(SPOIL);
      assert.equal(await digestOnHost(fixture.skillSource), fixture.staged.digest);
    },
  ),
  conform('EXEC-1', 'the records of the workspace are not seen', ISOLATED, async (fixture) => {
    await fixture.mustSucceed('[ ! -e "$WORKSPACE_DIR/metadata.json" ]');
  }),
  conform('EXEC-1', 'a skill that is staged between two programs is seen by the second', ALONE, async (fixture) => {
    await fixture.mustSucceed(`[ ! -e "$SKILLS_DIR/${OTHER_SKILL}/SKILL.md" ]`);
    await fixture.workspace.stage({ name: OTHER_SKILL, dir: writeOtherSkill(path.join(fixture.folder, 'skills')) });
    const script = `head -n 2 "$SKILLS_DIR/${OTHER_SKILL}/SKILL.md"; cat "$SKILLS_DIR/${SKILL}/assets/nothing"`;
    assert.equal(await fixture.print(script), `---\nname: ${OTHER_SKILL}\n`);
  }),
  conform('EXEC-4', 'an input that was staged from the host is read by the program', async (fixture) => {
    const folder = path.join(fixture.folder, 'given');
    mkdirSync(folder, { recursive: true });
    const file = path.join(folder, 'given.bin');
    writeFileSync(file, ALL_BYTES);
    const staged = await stageInputs(
      fixture.workspace,
      [{ from: `host://${file}`, to: 'work/inputs/given.bin', mode: 'copy' }],
      {
        host: () => true,
      },
    );
    assert.equal(staged.type, 'staged');
    assert.deepEqual((await fixture.mustSucceed('cat inputs/given.bin')).stdout, Buffer.from(ALL_BYTES));
  }),
  conform('EXEC-5', 'what a program leaves in out/ is collected byte for byte', async (fixture) => {
    await fixture.mustSucceed(
      'mkdir -p out/kept/deep; cp assets/all-bytes.bin out/kept/deep/a.bin; printf answer > out/kept/b.txt',
    );
    const { files, skipped } = await collectOutputs(fixture.onHost('.'), { globs: ['out/kept/**'], inline: true });
    assert.deepEqual(
      files.map(({ name, size_bytes: bytes }) => [name, bytes]),
      [
        ['out/kept/b.txt', 6],
        ['out/kept/deep/a.bin', ALL_BYTES.length],
      ],
    );
    assert.deepEqual(skipped, []);
    assert.deepEqual(fixture.read('out/kept/deep/a.bin'), Buffer.from(ALL_BYTES));
  }),
  conform('EXEC-5', 'a link that leaves the workspace is not collected, and is said', async (fixture) => {
    await fixture.mustSucceed(
      'mkdir out/odd && cd out/odd && ln -s /etc/passwd stolen && mkfifo pipe && printf mine > mine',
    );
    const { files, skipped } = await collectOutputs(fixture.onHost('.'), { globs: ['out/odd/**'], inline: true });
    assert.deepEqual(
      files.map(({ name }) => name),
      ['out/odd/mine'],
    );
    assert.deepEqual(skipped.map(({ name }) => name).sort(), ['out/odd/pipe', 'out/odd/stolen']);
  }),
  conform('EXEC-1', 'a second program finds in work/ what the first one left there', async (fixture) => {
    await fixture.mustSucceed('printf first > work/handed-on.txt');
    assert.equal(await fixture.print('cat work/handed-on.txt'), 'first');
  }),
];
