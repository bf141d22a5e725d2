import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { InputRequest } from '../../../src/core/action.ts';
import { SkillError } from '../../../src/core/errors.ts';
import { INPUT_LIMITS, stageInputs, type InputSources, type StagedInputs } from '../../../src/sandbox/inputs/inputs.ts';
import type { Workspace } from '../../../src/sandbox/workspace/workspace.ts';
import { verifies } from '../../conformance/verifies.ts';
import { EVERY_KIND, harvest, plant } from '../../platform/fs/tree-support.ts';
import { IS_ROOT, NOBODY, fakeExecutor, openBench } from '../workspace-support.ts';
import { needs } from '../../needs.ts';

interface Scene {
  readonly workspace: Workspace;
  readonly root: string;
  /** Of the host; allowed. */
  readonly data: string;
  readonly folder: string;
  readonly stage: (inputs: readonly InputRequest[], more?: InputSources) => Promise<StagedInputs>;
}

async function makeScene(
  kind: 'local' | 'isolating' = 'isolating',
  identity = IS_ROOT ? NOBODY : undefined,
): Promise<Scene> {
  const { folder, workspaces } = openBench();
  const data = plant(path.join(folder, 'data'), {
    'report.csv': 'a,b\n',
    'tool.sh': { program: 'echo' },
    'set/one.txt': 'one',
    'set/deep/two.bin': Buffer.from([0, 255]),
    'set/empty': { folder: true },
  });
  const dir = plant(path.join(folder, 'demo'), { 'SKILL.md': 'x', 'assets/table.csv': 't', 'assets/more/x': 'y' });
  const workspace = await workspaces.open('key', fakeExecutor(kind, identity === undefined ? {} : { identity }));
  await workspace.stage({ name: 'demo', dir });
  const { root } = workspace.place;
  plant(root, { 'out/result.txt': 'result', 'work/notes/a.md': 'note' });
  const artifacts: Readonly<Record<string, readonly string[]>> = {
    'report.txt': ['v0', 'v1'],
    'user:deep/x.bin': ['u0'],
  };
  const sources: InputSources = {
    host: (file) => file === data || file.startsWith(`${data}/`),
    artifact: async (name, version) => {
      const versions = artifacts[name] ?? [];
      const found = version ?? versions.length - 1;
      const content = versions[found];
      if (content !== undefined) return { content: Buffer.from(content), version: found };
      throw new SkillError({
        code: 'artifact/unknown',
        message: `there is no artifact "${name}"`,
        hint: 'list the artifacts',
        data: { name, nearest: Object.keys(artifacts).slice(0, 1) },
      });
    },
  };
  return {
    workspace,
    root,
    data,
    folder,
    stage: (inputs, more = {}) => stageInputs(workspace, inputs, { ...sources, ...more }),
  };
}

function outcome(staged: StagedInputs): string {
  if (staged.type === 'failed') return `${staged.failure.code} ${staged.failure.nearest.join(' ')}`.trim();
  return staged.inputs.map(({ to }) => to).join(' ');
}

describe('inputs', () => {
  verifies('EXEC-4', 'come from all four sources, to the place asked for or to work/inputs', async () => {
    const { root, data, stage } = await makeScene();
    const table: readonly (readonly [input: InputRequest, to: string, content: string])[] = [
      [{ from: 'artifact://report.txt' }, 'work/inputs/report.txt', 'v1'],
      [{ from: 'artifact://report.txt@0', to: 'work/old.txt' }, 'work/old.txt', 'v0'],
      [{ from: 'artifact://user:deep/x.bin' }, 'work/inputs/x.bin', 'u0'],
      [{ from: `host://${data}/report.csv` }, 'work/inputs/report.csv', 'a,b\n'],
      [{ from: `host://${data}/report.csv`, to: 'inputs/new/r.csv' }, 'work/inputs/new/r.csv', 'a,b\n'],
      [{ from: 'workspace://out/result.txt' }, 'work/inputs/result.txt', 'result'],
      [{ from: 'workspace://work/notes/a.md', to: '$OUTPUT_DIR/a.md' }, 'out/a.md', 'note'],
      [{ from: 'workspace:///workspace/out/result.txt', to: '/workspace/work/r.txt' }, 'work/r.txt', 'result'],
      [{ from: 'workspace://skills/demo/assets/table.csv', to: 'work/t1' }, 'work/t1', 't'],
      [{ from: 'skill://demo/assets/table.csv', to: '${WORK_DIR}/inputs/' }, 'work/inputs/table.csv', 't'],
      [{ from: 'skill://demo/SKILL.md', to: 'out' }, 'out/SKILL.md', 'x'],
      [{ from: 'workspace://inputs/report.txt', to: 'work/again.txt' }, 'work/again.txt', 'v1'],
      [{ from: 'artifact://report.txt', to: 'data/x.txt' }, 'data/x.txt', 'v1'],
      [{ from: 'workspace://data/x.txt', to: 'top.txt' }, 'top.txt', 'v1'],
      [{ from: 'artifact://report.txt', to: '$WORKSPACE_DIR/more/deep/' }, 'more/deep/report.txt', 'v1'],
    ];
    for (const [input, to, content] of table) {
      expect(outcome(await stage([input]))).toBe(to);
      expect(readFileSync(path.join(root, to), 'utf8')).toBe(content);
    }
  });

  verifies('EXEC-4', 'a single file is a file and a folder is a folder, with exec bits and empty folders', async () => {
    const { root, data, stage, workspace } = await makeScene();
    expect(outcome(await stage([{ from: `host://${data}/tool.sh` }, { from: `host://${data}/set` }]))).toBe(
      'work/inputs/tool.sh work/inputs/set',
    );
    expect(harvest(path.join(root, 'work/inputs/set'))).toEqual(harvest(path.join(data, 'set')));
    expect(lstatSync(path.join(root, 'work/inputs/tool.sh')).mode & 0o777).toBe(0o755);
    const owners = ['tool.sh', 'set', 'set/one.txt', 'set/empty'].map(
      (name) => lstatSync(path.join(root, 'work/inputs', name)).uid,
    );
    expect(new Set(owners)).toEqual(new Set([IS_ROOT ? NOBODY.uid : process.getuid?.()]));
    // The same again, as every call of a session asks for it.
    writeFileSync(path.join(data, 'set/one.txt'), 'changed');
    rmSync(path.join(data, 'set/empty'), { recursive: true });
    expect(outcome(await stage([{ from: `host://${data}/set` }]))).toBe('work/inputs/set');
    expect(harvest(path.join(root, 'work/inputs/set'))).toEqual(harvest(path.join(data, 'set')));
    expect(outcome(await stage([{ from: 'workspace://work/notes', to: 'out/notes' }]))).toBe('out/notes');
    expect(outcome(await stage([{ from: 'skill://demo/assets', to: 'work/assets' }]))).toBe('work/assets');
    expect(harvest(path.join(root, 'work/assets'))).toEqual(
      harvest(path.join(workspace.place.skills[0]?.snapshot ?? '', 'assets')),
    );
  });

  test('size and type are those of the source, also for a link into a skill', async () => {
    const { data, stage } = await makeScene();
    writeFileSync(path.join(data, 'a.png'), Buffer.from('89504e470d0a1a0a', 'hex'));
    const staged = await stage([
      { from: `host://${data}/a.png` },
      { from: 'skill://demo/SKILL.md', to: 'work/linked.md', mode: 'link' },
    ]);
    expect(staged).toMatchObject({
      inputs: [
        { bytes: 8, mediaType: 'image/png' },
        { mode: 'link', bytes: expect.any(Number) as number, mediaType: 'text/markdown' },
      ],
    });
    expect(staged.type === 'staged' && (staged.inputs[1]?.bytes ?? 0)).toBeGreaterThan(0);
  });

  verifies('EXEC-4', 'every one is recorded, and a pinned one keeps the version it had first', async () => {
    const { workspace, stage } = await makeScene();
    let latest = 4;
    const artifact: InputSources['artifact'] = async (_, version) => ({
      content: Buffer.from(String(version ?? latest)),
      version: version ?? latest,
    });
    const pinned: InputRequest = { from: 'artifact://r', pin: true };
    await stage([pinned], { artifact });
    latest = 5;
    const again = await stage(
      [pinned, { from: 'artifact://r', to: 'work/newest' }, { from: 'artifact://r@2', to: 'work/two' }],
      {
        artifact,
      },
    );
    const at: unknown = expect.any(String);
    const first = {
      from: 'artifact://r',
      to: 'work/inputs/r',
      resolved: 'artifact://r@4',
      version: 4,
      mode: 'copy',
      pin: true,
      at,
    };
    const rest = [
      first,
      { ...first, to: 'work/newest', pin: false, version: 5, resolved: 'artifact://r@5' },
      { ...first, from: 'artifact://r@2', to: 'work/two', pin: false, version: 2, resolved: 'artifact://r@2' },
    ];
    const staged = rest.map((record) => ({ ...record, bytes: 1, mediaType: 'text/plain' }));
    expect(again).toEqual({ type: 'staged', inputs: staged, warnings: [] });
    expect(workspace.metadata.inputs).toEqual([first, ...rest]);
  });

  verifies(
    'EXEC-4',
    'links are relative and stay in the workspace; what cannot be linked is copied, with a warning',
    async () => {
      const { root, data, stage } = await makeScene('local');
      const staged = await stage([
        { from: 'workspace://out/result.txt', mode: 'link' },
        { from: 'workspace://work/notes', to: 'work/inputs/n', mode: 'link' },
        { from: 'skill://demo/assets/table.csv', to: 'out/deep/er/t.csv', mode: 'link' },
        { from: `host://${data}/report.csv`, mode: 'link' },
        { from: 'artifact://report.txt', mode: 'link' },
      ]);
      expect(staged.type === 'staged' && staged.inputs.map(({ mode }) => mode)).toEqual([
        'link',
        'link',
        'link',
        'copy',
        'copy',
      ]);
      expect(staged.type === 'staged' && staged.warnings).toEqual([
        expect.stringMatching(/^".*report\.csv" was copied, because only files of the workspace can be linked$/),
        '"artifact://report.txt" was copied, because artifacts cannot be linked',
      ]);
      const links = ['work/inputs/result.txt', 'work/inputs/n', 'out/deep/er/t.csv'];
      expect(links.map((file) => readlinkSync(path.join(root, file)))).toEqual([
        '../../out/result.txt',
        '../notes',
        '../../../skills/demo/assets/table.csv',
      ]);
      for (const file of links) expect(realpathSync(path.join(root, file)).startsWith(`${root}/`)).toBe(true);
      expect(outcome(await stage([{ from: 'workspace://work/notes', to: 'work/notes/self', mode: 'link' }]))).toBe(
        'input/invalid',
      );
    },
  );
});

verifies(
  'ENV-2',
  'a repository is brought in with .git and hidden files; what has to be left out is named',
  async () => {
    const { data, root, stage } = await makeScene();
    plant(path.join(data, 'repo'), {
      '.git/config': '[core]',
      '.git/objects/ab': 'x',
      '.eslintrc': '{}',
      'a.txt': 'a',
    });
    const request = { from: `host://${data}/repo` };
    expect(await stage([request])).toMatchObject({ type: 'staged', warnings: [] });
    const copy = path.join(root, 'work/inputs/repo');
    expect(readdirSync(copy).toSorted()).toEqual(['.eslintrc', '.git', 'a.txt']);
    expect(readFileSync(path.join(copy, '.git/objects/ab'), 'utf8')).toBe('x');
    // A local clone shares its objects with the original by hard links.
    linkSync(path.join(data, 'repo/.git/objects/ab'), path.join(data, 'shared'));
    const staged = await stage([{ ...request, to: 'work/inputs/second' }]);
    expect(staged).toMatchObject({
      type: 'staged',
      warnings: [expect.stringMatching(/^\.git was left out of .*hard link/)],
    });
    expect(readdirSync(path.join(root, 'work/inputs/second')).toSorted()).toEqual(['.eslintrc', 'a.txt']);
  },
);

describe('inputs that are refused', () => {
  const table: Readonly<Record<string, readonly [input: (data: string) => InputRequest, outcome: string]>> = {
    'no scheme': [() => ({ from: '/etc/passwd' }), 'input/invalid'],
    'an unknown scheme': [() => ({ from: 'workspce://out/x' }), 'input/invalid workspace'],
    'a file url': [() => ({ from: 'file:///etc/passwd' }), 'input/invalid'],
    'nothing after the scheme': [() => ({ from: 'workspace://' }), 'path/empty'],
    'the host, not allowed': [() => ({ from: 'host:///etc/passwd' }), 'input/not-allowed'],
    'the host, not allowed, not there': [() => ({ from: 'host:///etc/no-such-file' }), 'input/not-allowed'],
    'the host, relative': [() => ({ from: 'host://etc/passwd' }), 'input/invalid'],
    'the host by ..': [(data) => ({ from: `host://${data}/../secret` }), 'path/parent'],
    'the host by a link': [(data) => ({ from: `host://${data}/to-passwd` }), 'input/not-allowed'],
    'the host by a link to a folder': [(data) => ({ from: `host://${data}/to-etc/passwd` }), 'input/not-allowed'],
    'a folder of the host with a link out': [(data) => ({ from: `host://${data}/with-link` }), 'path/link-outside'],
    'a name like an allowed one': [(data) => ({ from: `host://${data}-not/x` }), 'input/not-allowed'],
    'the host, mistyped': [(data) => ({ from: `host://${data}/reprot.csv` }), 'file/missing report.csv'],
    'a pipe of the host': [(data) => ({ from: `host://${data}/pipe` }), 'file/not-regular'],
    'a device of the host': [() => ({ from: 'host:///dev/zero' }), 'input/not-allowed'],
    'the workspace by ..': [() => ({ from: 'workspace://../../etc/passwd' }), 'path/parent'],
    'the workspace by an encoded ..': [() => ({ from: 'workspace://out/%2e%2e/x' }), 'path/encoded'],
    'the workspace, absolute': [() => ({ from: 'workspace:///etc/passwd' }), 'path/absolute'],
    'its own metadata': [() => ({ from: 'workspace://metadata.json' }), 'input/not-allowed'],
    'a link out of the workspace': [() => ({ from: 'workspace://out/passwd' }), 'path/link-outside'],
    'a folder that is a link': [() => ({ from: 'workspace://out/etc' }), 'path/link-outside'],
    'a file below a link': [() => ({ from: 'workspace://out/etc/passwd' }), 'path/link-outside'],
    'a hard link': [() => ({ from: 'workspace://out/hard' }), 'path/hard-link'],
    'a file of the workspace, mistyped': [
      () => ({ from: 'workspace://out/resutl.txt' }),
      'file/missing out/result.txt',
    ],
    'a file of the workspace, elsewhere': [
      () => ({ from: 'workspace://work/result.txt' }),
      'file/missing out/result.txt',
    ],
    'an unknown skill': [() => ({ from: 'skill://dmeo/SKILL.md' }), 'input/not-allowed demo'],
    'a skill by ..': [() => ({ from: 'skill://demo/../../x' }), 'path/parent'],
    'a skill called ..': [() => ({ from: 'skill://../x' }), 'path/parent'],
    'the links of a skill': [() => ({ from: 'skill://demo/out/result.txt' }), 'path/link-outside'],
    'a file of a skill, mistyped': [() => ({ from: 'skill://demo/assets/tabel.csv' }), 'file/missing assets/table.csv'],
    'a skill and no file': [() => ({ from: 'skill://demo' }), 'path/empty'],
    'an unknown artifact': [() => ({ from: 'artifact://reprot.txt' }), 'artifact/unknown report.txt'],
    'a version that is not there': [() => ({ from: 'artifact://report.txt@9' }), 'artifact/unknown report.txt'],
    'an artifact called ..': [() => ({ from: 'artifact://..' }), 'path/parent'],
    'a place by ..': [() => ({ from: 'artifact://report.txt', to: 'work/../../x' }), 'path/parent'],
    'an absolute place': [() => ({ from: 'artifact://report.txt', to: '/etc/x' }), 'path/absolute'],
    'a home folder': [() => ({ from: 'artifact://report.txt', to: '~/.bashrc' }), 'path/absolute'],
    'a place among the skills': [
      () => ({ from: 'artifact://report.txt', to: 'skills/demo/SKILL.md' }),
      'input/invalid',
    ],
    'a place among the skills, by its variable': [
      () => ({ from: 'artifact://report.txt', to: '$SKILLS_DIR/demo/new.txt' }),
      'input/invalid',
    ],
    'the folder of this run': [() => ({ from: 'artifact://report.txt', to: '${RUN_DIR}/x' }), 'input/invalid'],
    'a folder of ours': [() => ({ from: 'artifact://report.txt', to: 'home/demo/x' }), 'input/invalid'],
    'a folder of ours in capitals': [() => ({ from: 'artifact://report.txt', to: 'Private/x' }), 'input/invalid'],
    'a hidden folder': [() => ({ from: 'artifact://report.txt', to: '.pipes/x' }), 'input/invalid'],
    'the output of another run': [() => ({ from: 'artifact://report.txt', to: 'runs/run-1/x' }), 'input/invalid'],
    'a source of ours': [() => ({ from: 'workspace://home/demo/x' }), 'input/not-allowed'],
    'the place of the record': [() => ({ from: 'artifact://report.txt', to: 'metadata.json' }), 'input/invalid'],
    'a place below a link': [() => ({ from: 'artifact://report.txt', to: 'out/etc/x' }), 'path/link-outside'],
    'a place below a file': [() => ({ from: 'artifact://report.txt', to: 'out/result.txt/x' }), 'path/link-outside'],
    'a folder in the way': [() => ({ from: 'artifact://report.txt', to: 'work/notes' }), 'input/exists'],
    'a file in the way of a folder': [(data) => ({ from: `host://${data}/set`, to: 'out/result.txt' }), 'input/exists'],
    'a control character': [() => ({ from: 'workspace://out/a\nb' }), 'path/control-character'],
  };
  for (const [title, [input, expected]] of Object.entries(table))
    test(`${title}: ${expected}`, needs('linux'), async () => {
      const { root, data, folder, stage, workspace } = await makeScene();
      writeFileSync(path.join(folder, 'secret'), 'secret');
      plant(data, {
        'to-passwd': { link: '/etc/passwd' },
        'to-etc': { link: '/etc' },
        'with-link/x': { link: '/etc/passwd' },
      });
      execFileSync('mkfifo', [path.join(data, 'pipe')]);
      plant(path.join(root, 'out'), { passwd: { link: '/etc/passwd' }, etc: { link: '/etc' } });
      linkSync(path.join(folder, 'secret'), path.join(root, 'out/hard'));
      const before = harvest(root);
      // A good one before it is not staged either.
      const staged = await stage([{ from: 'artifact://report.txt', to: 'work/good' }, input(data)]);
      expect(outcome(staged)).toBe(expected);
      expect(staged.type === 'failed' && staged.failure.hint.length > 10).toBe(true);
      expect(harvest(root)).toEqual(before);
      expect(readdirSync(workspace.base.temporary)).toEqual([]);
    });

  test('what is more than may be brought in: files, bytes, inputs, and two for one place', async () => {
    const { workspace, data } = await makeScene();
    const tried = async (inputs: readonly InputRequest[], limits: Partial<typeof INPUT_LIMITS>): Promise<string> =>
      outcome(await stageInputs(workspace, inputs, { host: () => true }, { limits: { ...INPUT_LIMITS, ...limits } }));
    expect(await tried([{ from: `host://${data}/set` }], { maxEntries: 3 })).toBe('file/too-large');
    expect(await tried([{ from: `host://${data}/report.csv` }], { maxBytes: 3 })).toBe('file/too-large');
    const both = [{ from: `host://${data}/report.csv` }, { from: `host://${data}/tool.sh` }];
    expect(await tried(both, { maxBytes: 7 })).toBe('file/too-large');
    expect(await tried(both, { maxInputs: 1 })).toBe('input/invalid');
    expect(await tried([...both, { from: `host://${data}/set`, to: 'work/inputs/tool.sh' }], {})).toBe('input/invalid');
    expect(await tried(both, {})).toBe('work/inputs/report.csv work/inputs/tool.sh');
  });

  test('without artifacts and without the host there is neither', async () => {
    const { workspace, data } = await makeScene();
    expect(outcome(await stageInputs(workspace, [{ from: 'artifact://x' }], {}))).toBe('artifact/unknown');
    expect(outcome(await stageInputs(workspace, [{ from: `host://${data}/report.csv` }], {}))).toBe(
      'input/not-allowed',
    );
    expect(await stageInputs(workspace, [], {})).toEqual({ type: 'staged', inputs: [], warnings: [] });
  });

  test('a program that exchanges work/inputs for a link gets nothing written elsewhere', async () => {
    const { root, folder, stage } = await makeScene('local');
    const outside = path.join(folder, 'outside');
    mkdirSync(outside);
    rmSync(path.join(root, 'work/inputs'), { recursive: true });
    symlinkSync(outside, path.join(root, 'work/inputs'));
    expect(outcome(await stage([{ from: 'artifact://report.txt' }]))).toBe('path/link-outside');
    expect(readdirSync(outside)).toEqual([]);
    // A link at the place itself is replaced.
    writeFileSync(path.join(outside, 'keep'), 'keep');
    symlinkSync(path.join(outside, 'keep'), path.join(root, 'out/r'));
    expect(outcome(await stage([{ from: 'artifact://report.txt', to: 'out/r' }]))).toBe('out/r');
    expect([readFileSync(path.join(outside, 'keep'), 'utf8'), readFileSync(path.join(root, 'out/r'), 'utf8')]).toEqual([
      'keep',
      'v1',
    ]);
  });

  test('of a tree with every kind of file all is brought in', async () => {
    const { root, data, stage } = await makeScene();
    plant(path.join(data, 'all'), EVERY_KIND);
    chmodSync(path.join(data, 'all/SKILL.md'), 0o600);
    expect(outcome(await stage([{ from: `host://${data}/all` }]))).toBe('work/inputs/all');
    expect(harvest(path.join(root, 'work/inputs/all'))).toEqual(harvest(path.join(data, 'all')));
    expect(existsSync(path.join(root, 'work/inputs/all/tests/fixtures'))).toBe(true);
  });
});
