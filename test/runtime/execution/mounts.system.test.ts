import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';

import type { Action } from '../../../src/core/action.ts';
import type { ApprovalRequest } from '../../../src/core/approval.ts';
import type { RunResult } from '../../../src/core/outputs.ts';
import type { ExecutionOptions } from '../../../src/sandbox/execution/parts.ts';
import { createRuntime } from '../../../src/runtime/runtime.ts';
import type { Session } from '../../../src/runtime/session.ts';
import { bubblewrapExecutor } from '../../../src/sandbox/executors/bubblewrap/executor.ts';
import { namespacesExecutor } from '../../../src/sandbox/executors/namespaces/executor.ts';
import { landlockExecutor } from '../../../src/sandbox/executors/landlock/executor.ts';
import { containerExecutor } from '../../../src/sandbox/executors/container/executor.ts';
import { verifies } from '../../conformance/verifies.ts';
import { scratch, writeSkill } from '../../skills/registry/support.ts';
import { sharedDockerEngine } from '../../sandbox/docker-engine.ts';
import { has, needs } from '../../needs.ts';

const engine = await sharedDockerEngine();
if (typeof engine === 'string') console.log(`skipped: ${engine}`);

/** Made here and not found by name, which would probe them first. */
const EXECUTORS: readonly (readonly [string, NonNullable<ExecutionOptions['executor']>])[] = [
  ['local', 'local'],
  ...(has('bubblewrap') ? ([['bubblewrap', bubblewrapExecutor({ isKnown: true })]] as const) : []),
  ...(has('namespaces') ? ([['namespaces', namespacesExecutor({})]] as const) : []),
  ...(has('landlock') ? ([['landlock', landlockExecutor()]] as const) : []),
  ...(typeof engine === 'string'
    ? []
    : ([['container', containerExecutor({ socket: engine.socket, rootFileSystem: engine.rootFileSystem })]] as const)),
];

/** What a coding skill does with a repository. */
const REVIEW = `import os, subprocess
git = lambda *words: subprocess.run(['git', *words], capture_output=True, text=True)
log = git('log', '--format=%s')
print(log.stdout.strip(), log.stderr.strip())
print('changed:', git('diff', '--name-only').stdout.strip())
print('in', os.getcwd() == os.environ['PROJECT_DIR'])
print(open('src/main.py').read().strip())
`;

interface World {
  readonly folder: string;
  readonly project: string;
}

function writeWorld(): World {
  const folder = scratch();
  chmodSync(folder, 0o755);
  const dir = path.join(folder, 'skills/reviewer');
  writeSkill(dir, { body: '# Reviewer\n' });
  mkdirSync(path.join(dir, 'scripts'));
  writeFileSync(path.join(dir, 'scripts/review.py'), REVIEW);
  const project = path.join(folder, 'project');
  mkdirSync(path.join(project, 'src'), { recursive: true });
  writeFileSync(path.join(project, 'src/main.py'), 'print(1)\n');
  writeFileSync(path.join(project, 'AGENTS.md'), '# Rules\n');
  const git = (...words: readonly string[]): unknown =>
    execFileSync('git', ['-C', project, '-c', 'user.name=a', '-c', 'user.email=a@b.c', ...words]);
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'first commit');
  writeFileSync(path.join(project, 'src/main.py'), 'print(2)\n');
  mkdirSync(path.join(project, 'config'));
  writeFileSync(path.join(project, '.env'), 'TOKEN=secret\n');
  writeFileSync(path.join(project, '.env.example'), 'TOKEN=\n');
  writeFileSync(path.join(project, 'config/server.pem'), 'secret\n');
  mkdirSync(path.join(project, 'more'));
  // Second names of secrets, in the project and in the home folder, and of a file that other tools obey.
  linkSync(path.join(project, '.env'), path.join(project, 'more/notes.txt'));
  linkSync(path.join(project, 'AGENTS.md'), path.join(project, 'more/rules.txt'));
  mkdirSync(path.join(folder, 'home/.ssh'), { recursive: true });
  writeFileSync(path.join(folder, 'home/.ssh/id'), 'secret\n');
  linkSync(path.join(folder, 'home/.ssh/id'), path.join(project, 'more/key.txt'));
  for (const place of ['.agent/runs', 'packages/app/.agent/runs', 'records', 'private']) {
    mkdirSync(path.join(project, place), { recursive: true });
    writeFileSync(path.join(project, place, 'record'), 'secret\n');
  }
  return { folder, project };
}

interface Opened {
  readonly session: Session;
  readonly asked: ApprovalRequest[];
}

async function open({ folder, project }: World, execution: ExecutionOptions, directory = 'records'): Promise<Opened> {
  const runtime = await createRuntime({
    cwd: project,
    home: path.join(folder, 'home'),
    env: {},
    roots: [path.join(folder, 'skills')],
    onlyRoots: true,
    cache: false,
    config: { runs: { directory }, policy: { deny: ['Read(private/**)'] } },
  });
  const asked: ApprovalRequest[] = [];
  const session = await runtime.startSession({
    execution: { artifacts: false, ...execution },
    approve: (request) => {
      asked.push(request);
      return Promise.resolve({ verdict: 'yes', scope: 'once', by: 'callback' });
    },
  });
  onTestFinished(() => session.close());
  return { session, asked };
}

async function run(session: Session, action: Action): Promise<RunResult> {
  const observation = await session.perform(action);
  if (observation.type !== 'program-ran') throw new Error(JSON.stringify(observation));
  return observation.result;
}

const command = (text: string): Action => ({ type: 'run_command', skill: 'reviewer', command: text });

describe.each(EXECUTORS)('a mounted repository under %s', (name, executor) => {
  const isIsolating = name !== 'local';
  // Its path rules show names, and allow a folder with exceptions entry by entry.
  const hasPathRules = name === 'landlock';

  verifies(
    'ENV-2',
    'a coding script sees the project with its .git and starts in it',
    async () => {
      const world = writeWorld();
      const { session, asked } = await open(world, {
        executor,
        startsInProject: true,
        mounts: [{ folder: world.project, access: 'read', isProject: true }],
      });
      const result = await run(session, { type: 'run_script', skill: 'reviewer', script: 'review.py', args: [] });
      expect([result.stdout, result.stderr]).toEqual(['first commit \nchanged: src/main.py\nin True\nprint(2)\n', '']);
      expect(asked).toEqual([]);
      if (!isIsolating) return;
      const { stdout } = await run(
        session,
        command(
          'for f in new .git/config AGENTS.md; do (echo x >> $f) 2>/dev/null && echo "wrote $f"; done; cat .env config/server.pem more/notes.txt more/key.txt .env.example; cat $(find . -name record); ls -A .agent private records',
        ),
      );
      // Landlock denies reading; names stay visible.
      if (hasPathRules) expect(stdout.split('\n')[0]).toBe('TOKEN=');
      else expect(stdout).toBe('TOKEN=\n.agent:\n\nprivate:\n\nrecords:\n');
      const [, names = ''] = /^hidden from programs in [^:]*: (.*)$/m.exec(result.warnings?.join('\n') ?? '') ?? [];
      expect(names.split(', ').toSorted()).toEqual(
        ['.env', 'config/server.pem', 'packages/app/.agent', 'private', 'records', '2 more'].toSorted(),
      );
    },
    needs('python3'),
  );

  test('a file behind a link with a secret name is hidden like it', async () => {
    if (!isIsolating) return;
    const world = writeWorld();
    rmSync(path.join(world.project, '.env'));
    writeFileSync(path.join(world.project, 'src/values'), 'MARK\n');
    symlinkSync('src/values', path.join(world.project, '.env'));
    const mounts = [{ folder: world.project, access: 'read', isProject: true }] as const;
    const { session } = await open(world, { executor, startsInProject: true, mounts });
    const { stdout } = await run(session, command('cat src/main.py; grep -r MARK . 2>/dev/null'));
    expect(stdout).toBe('print(2)\n');
  });

  test.each([
    ['data', '.agent', 'records'],
    ['.git/own', '.agent', 'records'],
    ['node_modules', '.agent', 'records'],
    ['data/runs', '.agent/runs', 'records'],
    ['node_modules/x', undefined, 'node_modules/x'],
    ['.git/hooks', undefined, '.git/hooks'],
    ['deep/.venv/x', undefined, 'deep/.venv/x'],
  ])('records in %s are hidden, reached by %s', async (place, link, directory) => {
    if (!isIsolating) return;
    const world = writeWorld();
    const { project } = world;
    chmodSync(project, 0o777);
    mkdirSync(path.join(project, place, 'run'), { recursive: true });
    writeFileSync(path.join(project, place, 'run/events.jsonl'), 'MARK\n');
    if (link !== undefined) {
      rmSync(path.join(project, link), { recursive: true });
      symlinkSync(path.join(project, place), path.join(project, link));
    }
    for (const access of ['read', 'write'] as const) {
      const { session } = await open(
        world,
        { executor, startsInProject: true, mounts: [{ folder: project, access, isProject: true }] },
        directory,
      );
      const { stdout } = await run(session, command('cat src/main.py; grep -rl MARK . 2>/dev/null'));
      expect([access, stdout]).toEqual([access, 'print(2)\n']);
      await run(session, command(`echo x >> ${place}/run/events.jsonl; mv ${place}/run/events.jsonl other`));
      expect(readFileSync(path.join(project, place, 'run/events.jsonl'), 'utf8')).toBe('MARK\n');
    }
  });

  verifies('ENV-2', 'a writable folder is asked about, and what other tools obey stays read-only', async () => {
    const world = writeWorld();
    chmodSync(world.project, 0o777);
    chmodSync(path.join(world.project, 'AGENTS.md'), 0o666);
    chmodSync(path.join(world.project, '.git'), 0o777);
    chmodSync(path.join(world.project, 'src'), 0o777);
    chmodSync(path.join(world.project, 'src/main.py'), 0o666);
    const { session, asked } = await open(world, {
      executor,
      startsInProject: true,
      mounts: [{ folder: world.project, access: 'write', isProject: true }],
    });
    const { warnings } = await run(
      session,
      command(
        'echo made > made; echo made > src/made; echo x >> src/main.py; echo x >> AGENTS.md; echo x >> more/rules.txt; echo x > .git/new; cp /etc/hostname .env; true',
      ),
    );
    const weakness = name === 'landlock' ? 'weak_isolation' : isIsolating ? undefined : 'no_isolation';
    const isolation = weakness === undefined ? [] : [{ name: weakness, on: [] }];
    expect(asked.map(({ tool, risk, capabilities, scopes }) => ({ tool, risk, capabilities, scopes }))).toEqual([
      {
        tool: 'mount_write',
        risk: 'high',
        capabilities: [{ name: 'project_write', on: [world.project] }, ...isolation],
        scopes: ['once', 'run'],
      },
    ]);
    expect(readFileSync(path.join(world.project, 'src/made'), 'utf8')).toBe('made\n');
    expect(readFileSync(path.join(world.project, 'src/main.py'), 'utf8')).toBe('print(2)\nx\n');
    expect(existsSync(path.join(world.project, 'made'))).toBe(!hasPathRules);
    expect(warnings.filter((line) => line.startsWith('under landlock'))).toEqual(
      hasPathRules
        ? [
            `under landlock programs change files, but create, rename and delete nothing directly in ${world.project}, ${world.project}/more, ${world.project}/packages/app, ${world.project}/config, which hold protected or hidden files`,
          ]
        : [],
    );
    if (!isIsolating) return;
    expect(readFileSync(path.join(world.project, 'AGENTS.md'), 'utf8')).toBe('# Rules\n');
    expect(readFileSync(path.join(world.project, '.env'), 'utf8')).toBe('TOKEN=secret\n');
    expect(existsSync(path.join(world.project, '.git/new'))).toBe(false);
  });

  test('what a program creates under a protected name is set aside with the command that accepts it', async () => {
    const world = writeWorld();
    if (!isIsolating) return;
    const inside = (name: string): string => path.join(world.project, name);
    mkdirSync(inside('sub'));
    for (const name of ['', 'sub']) chmodSync(inside(name), 0o777);
    writeFileSync(inside('notes.txt'), 'notes\n', { mode: 0o666 });
    chmodSync(inside('notes.txt'), 0o666);
    symlinkSync('notes.txt', inside('CLAUDE.md'));
    const { session } = await open(world, { executor, mounts: [{ folder: world.project, access: 'write' }] });
    const { warnings } = await run(
      session,
      command(
        `cd ${world.project}/sub && mkdir -p .git/hooks .github/workflows .claude && echo x > .git/hooks/pre-commit && echo x > .github/workflows/a.yml && echo x > .claude/settings.json && ln -s ../src/main.py AGENTS.md; echo x > fine.txt; echo x >> ../notes.txt; rm ../CLAUDE.md && ln -s src/main.py ../CLAUDE.md; true`,
      ),
    );
    const created = ['sub/.claude', 'sub/.git', 'sub/.github', 'sub/AGENTS.md', ...(hasPathRules ? [] : ['CLAUDE.md'])];
    expect(warnings.filter((line) => line.includes('run or obey')).toSorted()).toEqual(
      created
        .map(
          (name) =>
            `the program created ${inside(name)}, which other tools run or obey; it was renamed. To accept it, run: mv ${inside(name)}.held ${inside(name)}`,
        )
        .toSorted(),
    );
    expect(readdirSync(inside('sub')).toSorted()).toEqual(
      ['.claude.held', '.git.held', '.github.held', 'AGENTS.md.held', 'fine.txt'].toSorted(),
    );
    expect([readlinkSync(inside('CLAUDE.md')), readFileSync(inside('notes.txt'), 'utf8')]).toEqual([
      'notes.txt',
      'notes\n',
    ]);
  });

  test('what a program created is set aside when it is killed, and when its session ends', async () => {
    const world = writeWorld();
    if (!isIsolating || name === 'container') return;
    const sub = path.join(world.project, 'sub');
    mkdirSync(sub);
    for (const folder of [world.project, sub]) chmodSync(folder, 0o777);
    const { session } = await open(world, { executor, mounts: [{ folder: world.project, access: 'write' }] });
    const start = async (file: string): Promise<string> => {
      const seen = await session.perform({
        type: 'start_command',
        command: `echo obey > ${sub}/${file}; echo started; sleep 60`,
        yieldMs: 20_000,
        pollLines: 1,
      });
      if (seen.type !== 'command-seen') throw new Error(JSON.stringify(seen));
      while (!existsSync(path.join(sub, file))) await session.perform({ type: 'poll_command', session: seen.session });
      return seen.session;
    };
    const killed = await session.perform({ type: 'kill_command', session: await start('AGENTS.md') });
    expect(killed).toMatchObject({
      type: 'command-killed',
      warnings: [expect.stringContaining(`created ${sub}/AGENTS.md, which other tools run or obey; it was renamed`)],
    });
    await start('CLAUDE.md');
    await session.close();
    expect(readdirSync(sub).toSorted()).toEqual(['AGENTS.md.held', 'CLAUDE.md.held']);
  });

  test('a program whose files cannot be renamed is named and has failed', async () => {
    const world = writeWorld();
    const sub = path.join(world.project, 'sub');
    mkdirSync(sub);
    const chattr = (change: string): boolean => spawnSync('chattr', [change, sub], { stdio: 'ignore' }).status === 0;
    // A folder that cannot be changed stands for all reasons why a name cannot be.
    if (!isIsolating || name === 'container' || !chattr('+i') || !chattr('-i')) return;
    onTestFinished(() => void chattr('-i'));
    mkdirSync(path.join(world.project, 'other'));
    for (const each of ['', 'sub', 'other']) chmodSync(path.join(world.project, each), 0o777);
    const { session } = await open(world, { executor, mounts: [{ folder: world.project, access: 'write' }] });
    const running = run(
      session,
      command(
        `cd ${world.project}; echo x > sub/AGENTS.md; echo x > other/CLAUDE.md; until [ -e src/go ]; do sleep 0.1; done`,
      ),
    );
    while (!existsSync(path.join(world.project, 'other/CLAUDE.md'))) await setTimeout(20);
    expect(chattr('+i')).toBe(true);
    writeFileSync(path.join(world.project, 'src/go'), '');
    const { exit_code: status, warnings } = await running;
    expect([status, warnings.filter((line) => line.includes('run or obey')).toSorted()]).toEqual([
      125,
      [
        `the program created ${world.project}/other/CLAUDE.md, which other tools run or obey; it was renamed. To accept it, run: mv ${world.project}/other/CLAUDE.md.held ${world.project}/other/CLAUDE.md`,
        `the program created ${sub}/AGENTS.md, which other tools run or obey, and it cannot be renamed (EPERM): check it before you go on`,
      ],
    ]);
  });

  test('a folder that was replaced after the session began is not shown', async () => {
    const world = writeWorld();
    const other = path.join(world.folder, 'other');
    mkdirSync(other);
    writeFileSync(path.join(other, 'key'), 'secret');
    const { session } = await open(world, { executor, mounts: [{ folder: world.project, access: 'read' }] });
    renameSync(world.project, `${world.project}-moved`);
    symlinkSync(other, world.project);
    const { stdout, stderr, exit_code: status } = await run(session, command(`cat ${world.project}/key`));
    expect([stdout, status]).toEqual(['', 125]);
    expect(stderr).toContain('was replaced after it was checked');
    rmSync(world.project);
  });
});
