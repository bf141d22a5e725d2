import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import type { ApprovalRequest } from '../../../src/core/approval.ts';
import { readResults } from '../../../src/runtime/execution/results.ts';
import { takeOutputs, type TakeOutputsOptions } from '../../../src/runtime/execution/take-outputs.ts';
import type { Session } from '../../../src/runtime/session.ts';
import { verifies } from '../../conformance/verifies.ts';
import { createRuntime } from '../../../src/runtime/runtime.ts';
import { scratch, writeSkill } from '../../skills/registry/support.ts';
import { runtimeOver } from '../support.ts';

interface World {
  readonly project: string;
  readonly skills: string;
  readonly session: Session;
  readonly take: (folder: string, options?: TakeOutputsOptions) => Promise<readonly string[]>;
}

async function take(session: Session, folder: string, options: TakeOutputsOptions): Promise<readonly string[]> {
  return takeOutputs(session, (await readResults(session)).files, folder, options);
}

/** A program that left these files in `out/`. */
async function left(files: Readonly<Record<string, string>>): Promise<World> {
  const folder = scratch();
  const project = path.join(folder, 'project');
  const skills = path.join(folder, 'skills');
  for (const each of [project, skills]) mkdirSync(each);
  const session = await (
    await runtimeOver(skills)
  ).startSession({ execution: { executor: 'local', artifacts: false } });
  onTestFinished(() => session.close());
  const workspace = await session.execution?.openWorkspace();
  const out = path.join(workspace?.place.root ?? '', 'out');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(out, name)), { recursive: true });
    writeFileSync(path.join(out, name), text);
  }
  return { project, skills, session, take: (to, options = {}) => take(session, path.join(folder, to), options) };
}

const yes: NonNullable<TakeOutputsOptions['approve']> = () =>
  Promise.resolve({ verdict: 'yes', scope: 'once', by: 'callback' });

describe('the outputs of a program', () => {
  test('are copied with their folders, also under the longest name', async () => {
    const long = `${'n'.repeat(251)}.txt`;
    const { project, take } = await left({ 'a/b.txt': 'b', [long]: 'long' });
    writeFileSync(path.join(project, long), 'old');
    expect((await take('project')).map((file) => path.relative(project, file))).toEqual(['a/b.txt', long]);
    expect([
      readFileSync(path.join(project, 'a/b.txt'), 'utf8'),
      readFileSync(path.join(project, long), 'utf8'),
    ]).toEqual(['b', 'long']);
  });

  verifies(
    'POL-12',
    'what other tools obey is asked about with its change, and without a yes nothing is written',
    async () => {
      const files = { 'AGENTS.md': '# Theirs\n', '.github/workflows/ci.yml': 'on: push\n', 'report.txt': 'r' };
      const { project, take } = await left(files);
      writeFileSync(path.join(project, 'AGENTS.md'), '# Mine\n');
      await expect(take('project')).rejects.toThrow('needs approval');
      await expect(take('project', { approve: () => Promise.resolve('nobody') })).rejects.toThrow('needs approval');
      expect(readdirSync(project)).toEqual(['AGENTS.md']);
      expect(readFileSync(path.join(project, 'AGENTS.md'), 'utf8')).toBe('# Mine\n');
      const asked: ApprovalRequest[] = [];
      await take('project', {
        approve: (request, options) => {
          asked.push(request);
          return yes(request, options);
        },
      });
      expect(asked.map(({ detail, risk, tool }) => ({ detail, risk, tool })).toReversed()).toEqual([
        {
          detail: { kind: 'write', path: path.join(project, 'AGENTS.md'), before: '# Mine\n', after: '# Theirs\n' },
          risk: 'high',
          tool: 'write_file',
        },
        {
          detail: {
            kind: 'write',
            path: path.join(project, '.github/workflows/ci.yml'),
            before: undefined,
            after: 'on: push\n',
          },
          risk: 'high',
          tool: 'write_file',
        },
      ]);
      expect(readFileSync(path.join(project, 'AGENTS.md'), 'utf8')).toBe('# Theirs\n');
    },
  );

  verifies('POL-12', 'nothing is written into .git, the configuration or a skill, not even with a yes', async () => {
    for (const [name, folder, reason] of [
      ['hooks/post-commit', 'project/.git', 'other tools run what is there'],
      ['pdf/SKILL.md', 'skills', 'it is in the skill folder'],
      ['x', 'skills/new', 'it is in the skill folder'],
      ['x', 'linked', 'it is in the skill folder'],
    ] as const) {
      const { project, skills, take } = await left({ [name]: 'x', 'a.txt': 'a' });
      symlinkSync('skills', path.join(path.dirname(project), 'linked'));
      await expect(take(folder, { approve: yes })).rejects.toThrow(reason);
      expect([readdirSync(project), readdirSync(skills)]).toEqual([[], []]);
    }
  });

  verifies(
    'POL-12',
    'nothing is written into a skill or its lock file, wherever it is and whatever agent keeps it',
    async () => {
      for (const [name, folder] of [
        ['SKILL.md', 'project/theirs'],
        ['new.txt', 'project/theirs/deep'],
        ['theirs/scripts/run.sh', 'project'],
        ['.agents/skills/mine/SKILL.md', 'project'],
        ['e/SKILL.md', 'project/.claude/skills'],
        ['.config/opencode/skill/x/SKILL.md', 'project'],
        ['.AGENTS/Skills/x.txt', 'project'],
        ['skills.lock.json', 'project'],
      ] as const) {
        const { project, take } = await left({ [name]: 'x', 'a.txt': 'a' });
        mkdirSync(path.join(project, 'theirs'));
        writeFileSync(path.join(project, 'theirs/SKILL.md'), 'theirs');
        await expect(take(folder, { approve: yes })).rejects.toThrow(
          /it is in (?:a|the) (?:skill folder|folder of skills)/,
        );
        expect([readdirSync(project), readdirSync(path.join(project, 'theirs'))]).toEqual([['theirs'], ['SKILL.md']]);
        expect(readFileSync(path.join(project, 'theirs/SKILL.md'), 'utf8')).toBe('theirs');
      }
    },
  );

  verifies(
    'POL-12',
    'a build file is replaced after a question of medium risk, and written freely where there is none',
    async () => {
      const names = `package.json Makefile conftest.py pyproject.toml setup.py tox.ini noxfile.py jest.config.js vite.config.ts
        .eslintrc.js Gemfile Rakefile build.gradle pom.xml CMakeLists.txt Justfile Dockerfile deep/package.json MAKEFILE`;
      for (const name of names.split(/\s+/)) {
        const { project, take } = await left({ [name]: 'new', 'notes.txt': 'new' });
        await take('project');
        expect(readFileSync(path.join(project, name), 'utf8')).toBe('new');
        // The same content is no change.
        await take('project');
        for (const each of [name, 'notes.txt']) writeFileSync(path.join(project, each), 'old');
        await expect(take('project')).rejects.toThrow('other tools run or obey it, so it needs approval');
        expect(['notes.txt', name].map((each) => readFileSync(path.join(project, each), 'utf8'))).toEqual([
          'old',
          'old',
        ]);
        const risks: string[] = [];
        await take('project', {
          approve: (request, options) => {
            risks.push(request.risk);
            return yes(request, options);
          },
        });
        expect([risks, readFileSync(path.join(project, name), 'utf8')]).toEqual([['medium'], 'new']);
      }
    },
  );

  verifies('POL-12', 'a file that is never written anywhere is left out, and the others are copied', async () => {
    const { project, session, take } = await left({ '.agent/config.json': '{}', 'a.txt': 'a' });
    expect((await readResults(session)).leftOut).toEqual([
      { name: 'out/.agent/config.json', reason: 'other tools run what is at this path', isMissed: true },
    ]);
    await take('project', { approve: yes });
    expect(readdirSync(project)).toEqual(['a.txt']);
  });

  verifies('POL-12', 'a link in the target folder is not followed, and nothing else is written either', async () => {
    const { project, take } = await left({ 'a.txt': 'new', 'docs/keys.txt': 'stolen', 'z.txt': 'z' });
    const keys = path.join(path.dirname(project), 'keys');
    mkdirSync(keys);
    symlinkSync(keys, path.join(project, 'docs'));
    writeFileSync(path.join(project, 'a.txt'), 'old');
    await expect(take('project', { approve: yes })).rejects.toThrow('cannot be written');
    expect(readFileSync(path.join(project, 'a.txt'), 'utf8')).toBe('old');
    expect(existsSync(path.join(project, 'z.txt'))).toBe(false);
    expect([readdirSync(keys), lstatSync(path.join(project, 'docs')).isSymbolicLink()]).toEqual([[], true]);
  });

  test('a file that changes while its approval is asked is not replaced', async () => {
    const { project, take } = await left({ 'AGENTS.md': '# Theirs\n', 'new/b.txt': 'b' });
    writeFileSync(path.join(project, 'AGENTS.md'), '# Seen\n');
    const approve: TakeOutputsOptions['approve'] = (request, options) => {
      writeFileSync(path.join(project, 'AGENTS.md'), '# Changed\n');
      return yes(request, options);
    };
    await expect(take('project', { approve })).rejects.toThrow('cannot be written');
    expect(readFileSync(path.join(project, 'AGENTS.md'), 'utf8')).toBe('# Changed\n');
    expect(readdirSync(project)).toEqual(['AGENTS.md']);
  });

  test('a target folder that becomes a link while its approval is asked is not used', async () => {
    const { project, skills, take } = await left({ 'AGENTS.md': '# Theirs\n' });
    const approve: TakeOutputsOptions['approve'] = (request, options) => {
      renameSync(project, `${project}-before`);
      symlinkSync(skills, project);
      return yes(request, options);
    };
    await expect(take('project', { approve })).rejects.toThrow('was replaced meanwhile');
    expect(readdirSync(skills)).toEqual([]);
  });

  test('if one file cannot be written, no file and no folder is left behind', async () => {
    const { project, take } = await left({ 'a/deep/er/one.txt': '1', 'b.txt': '2', 'c/x.txt': '3' });
    mkdirSync(path.join(project, 'b.txt'));
    await expect(take('project')).rejects.toThrow('cannot be written');
    expect(readdirSync(project)).toEqual(['b.txt']);
  });

  test('a result that cannot be copied is named with the reason, in words', async () => {
    const { session } = await left({ 'a.txt': 'a', linked: 'l', 'back\\slash': 'b', 'con:.txt': 'c' });
    const { place } = (await session.execution?.openWorkspace()) ?? { place: { root: '' } };
    const out = path.join(place.root, 'out');
    linkSync(path.join(out, 'linked'), path.join(out, 'other'));
    writeFileSync(path.join(out, 'large.bin'), '');
    truncateSync(path.join(out, 'large.bin'), 64 * 1024 * 1024 + 1);
    const { files, leftOut } = await readResults(session);
    expect(files.map(({ name }) => name)).toEqual(['a.txt']);
    const name = expect.stringContaining('not every system allows the name');
    expect(Object.fromEntries(leftOut.map((file) => [file.name, file.reason]))).toEqual({
      'out/back\\slash': name,
      'out/con:.txt': name,
      'out/large.bin': 'it is larger than 64 MiB',
      'out/linked': 'the file has further hard links',
      'out/other': 'the file has further hard links',
    });
    expect(leftOut.every(({ isMissed }) => isMissed)).toBe(true);
  });

  test('a file that is named after a secret is copied under its name and shown without it', async () => {
    const token = 'tok-5ecret-VALUE-123456789';
    const encoded = Buffer.from(token).toString('base64url');
    const folder = scratch();
    const skills = path.join(folder, 'skills');
    writeSkill(path.join(skills, 'leak'), { fields: ['requires: ["env:API_TOKEN"]'] });
    const runtime = await createRuntime({
      cwd: folder,
      home: folder,
      env: { MY_TOKEN: token },
      roots: [skills],
      onlyRoots: true,
      cache: false,
      config: { secrets: { leak: { API_TOKEN: { env: 'MY_TOKEN' } } } },
    });
    const session = await runtime.startSession({ execution: { executor: 'local', artifacts: false } });
    onTestFinished(() => session.close());
    const command = `cd "$OUTPUT_DIR"; for n in "$API_TOKEN.txt" ${encoded} AGENTS.md; do echo "$API_TOKEN" > "$n"; done`;
    await session.perform({ type: 'run_command', skill: 'leak', command }, { askedBy: 'program' });
    const asked: ApprovalRequest[] = [];
    const refusal = take(session, path.join(folder, token), {
      approve: (request) => {
        asked.push(request);
        return Promise.resolve('nobody');
      },
    });
    await expect(refusal).rejects.not.toThrow(token);
    const copied = await take(session, path.join(folder, 'to'), { approve: yes });
    expect(readdirSync(path.join(folder, 'to')).toSorted()).toEqual([`${token}.txt`, 'AGENTS.md', encoded].toSorted());
    expect(copied).toHaveLength(3);
    for (const shown of [JSON.stringify(asked), copied.join(' ')]) {
      expect(shown).toContain('[secret API_TOKEN]');
      expect(shown).not.toMatch(new RegExp(`${token}|${encoded}`));
    }
  });
});
