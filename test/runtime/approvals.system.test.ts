import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { Action } from '../../src/core/action.ts';
import type { ApprovalRequest, ApprovalScope } from '../../src/core/approval.ts';
import { pendingFolder } from '../../src/policy/approval/pending-approvals.ts';
import { spawnCli } from '../cli/run-cli.ts';
import { verifies } from '../conformance/verifies.ts';
import { groupExecutor } from '../sandbox/own-executor.ts';
import { openSite } from '../project/network/network-world.ts';
import {
  callback,
  outcome,
  sessionIn,
  trustedWorld,
  userPolicy,
  watchedApprovals,
  type PolicyWorld,
} from './policy-world.ts';

const yes = (scope: ApprovalScope): unknown => ({ verdict: 'yes', scope });
const script = (...args: readonly string[]): Action => ({ type: 'run_script', skill: 'demo', script: 'go.sh', args });
const run = (command: string): Action => ({ type: 'run_command', command });
const write = (content: string, file = 'notes.md'): Action => ({ type: 'write_file', path: file, content });

/** In a new process nothing is left but what the home folder holds: the same, for one call. */
async function later(world: PolicyWorld, action: Action = script()): Promise<string> {
  const { approve } = watchedApprovals({ home: world.home });
  return outcome(await sessionIn(world, { approve }), action);
}

describe('how far a yes reaches', () => {
  test('once: the next call is asked about, the very same one too', async () => {
    const world = await trustedWorld();
    const said = callback(yes('once'), world.home);
    const session = await sessionIn(world, { approve: said.approve });
    for (const action of [script(), script(), run('ls'), run('ls')])
      expect(await outcome(session, action)).toBe('done');
    expect(said.calls()).toBe(4);
    expect(await later(world)).toBe('approval/needed');
  });

  verifies(
    'POL-3',
    'for the run: any script of the skill, the same programs, the same file, the same host; and nothing in the next run',
    async () => {
      const world = await trustedWorld();
      const site = await openSite((_, response) => response.end('served'));
      const ask = (method: string, where: string): Action => ({
        type: 'network_request',
        method,
        url: `${site.origin}${where}`,
      });
      const said = callback(yes('run'), world.home);
      const session = await sessionIn(world, { approve: said.approve });
      const steps: readonly (readonly [Action, number])[] = [
        [script(), 1],
        [script('other', 'words'), 1],
        [run('ls'), 2],
        [run('ls -la | ls'), 2],
        [run('ls; id'), 3],
        [run('echo $(id)'), 4],
        [run('echo $(id -u)'), 4],
        [run("bash -c 'id; echo 1'"), 5],
        [run("bash -c 'id; echo 2'"), 5],
        [run("bash -c 'ls'"), 6],
        // It says nothing about what will run.
        [run('X=ls; $X'), 7],
        [run('X=id; $X'), 8],
        [run('X=id; $X'), 8],
        [{ type: 'run_command', command: 'ls', env: { A: '1' } }, 8],
        [{ type: 'run_command', command: 'ls', env: { A: '2' } }, 8],
        [write('one'), 9],
        [write('two'), 9],
        [write('two', 'other.md'), 10],
        [{ type: 'delete_file', path: 'notes.md' }, 11],
        [ask('GET', '/a'), 12],
        [ask('GET', '/b'), 12],
        [ask('POST', '/b'), 13],
      ];
      const seen: unknown[] = [];
      for (const [action] of steps) seen.push([action, await outcome(session, action), said.calls()]);
      expect(seen).toEqual(steps.map(([action, calls]) => [action, 'done', calls]));
      expect(await later(world)).toBe('approval/needed');
    },
  );

  verifies(
    ['POL-3', 'POL-5'],
    'for the skill: in later runs too, until a byte of any of its files changes, and again when it is as it was',
    async () => {
      const world = await trustedWorld();
      const said = callback(yes('skill'), world.home);
      expect(await outcome(await sessionIn(world, { approve: said.approve }), script())).toBe('done');
      expect([await later(world), await later(world, script('more'))]).toEqual(['done', 'done']);
      for (const file of ['SKILL.md', 'references/guide.md', 'scripts/go.sh']) {
        const target = path.join(world.demo, file);
        const before = readFileSync(target);
        appendFileSync(target, '\n');
        expect([file, await later(world)]).toEqual([file, 'approval/needed']);
        writeFileSync(target, before);
        expect([file, await later(world)]).toEqual([file, 'done']);
      }
      writeFileSync(path.join(world.demo, 'new.txt'), '');
      expect(await later(world)).toBe('approval/needed');
    },
  );

  test('for the skill: not for one of another name or from another place, though each byte is the same', async () => {
    const world = await trustedWorld();
    const said = callback(yes('skill'), world.home);
    await outcome(await sessionIn(world, { approve: said.approve }), script());
    const own = path.join(world.home, '.agent/skills/demo');
    mkdirSync(path.dirname(own), { recursive: true });
    cpSync(world.demo, own, { recursive: true });
    expect(await later(world, { type: 'run_script', skill: 'user/demo', script: 'go.sh', args: [] })).toBe(
      'approval/needed',
    );
    rmSync(own, { recursive: true });
    const renamed = path.join(path.dirname(world.demo), 'other');
    renameSync(world.demo, renamed);
    const skillFile = path.join(renamed, 'SKILL.md');
    writeFileSync(skillFile, readFileSync(skillFile, 'utf8').replace('name: demo', 'name: other'));
    expect(await later(world, { type: 'run_script', skill: 'other', script: 'go.sh', args: [] })).toBe(
      'approval/needed',
    );
  });

  test('for the skill is not offered for what is dangerous, nor for what no sandbox holds', async () => {
    const world = await trustedWorld();
    const said = callback(yes('skill'), world.home);
    const execution = { executor: groupExecutor(), opens: false, artifacts: false } as const;
    const session = await sessionIn(world, { approve: said.approve, execution });
    expect([await outcome(session, script()), await outcome(session, write('x'))]).toEqual([
      'approval/refused',
      'approval/refused',
    ]);
    expect(said.asked.map(({ scopes }) => scopes)).toEqual([
      ['once', 'run'],
      ['once', 'run'],
    ]);
  });

  test('--yes: what is of medium risk and in a sandbox; nothing else', async () => {
    const world = await trustedWorld();
    const outcomes = async (more: object): Promise<readonly string[]> => {
      const { approve } = watchedApprovals({ home: world.home, yes: true });
      const session = await sessionIn(world, { approve, ...more });
      const actions: readonly Action[] = [
        script(),
        run('echo hello'),
        { type: 'run_command', command: 'cat inputs/notes.md', inputs: [{ from: `host://${world.project}/notes.md` }] },
        write('x'),
        { type: 'delete_file', path: 'notes.md' },
        { type: 'network_request', url: 'http://127.0.0.1:9/' },
      ];
      const all: string[] = [];
      for (const action of actions) all.push(await outcome(session, action));
      return all;
    };
    const no = 'approval/needed';
    expect(await outcomes({})).toEqual(['done', 'done', 'done', no, no, no]);
    const execution = { executor: groupExecutor(), opens: false, artifacts: false } as const;
    expect(await outcomes({ execution })).toEqual([no, no, no, no, no, no]);
  });

  test('--yes: programs without isolation where a rule allows unsafe_local; files and servers are still asked about', async () => {
    const world = await trustedWorld();
    const { approve } = watchedApprovals({ home: world.home, yes: true });
    const execution = { executor: groupExecutor(), opens: false, artifacts: false } as const;
    const config = { policy: { allow: ['unsafe_local'] } };
    const session = await sessionIn(world, { approve, execution }, { config });
    expect([
      await outcome(session, script()),
      await outcome(session, run('echo hello')),
      await outcome(session, write('x')),
    ]).toEqual(['done', 'done', 'approval/needed']);
  });
});

describe('what is asked', () => {
  test('an approval that the project requires is attributed to the project, one of the user to the user', async () => {
    const world = await trustedWorld();
    const wants = (rule: string): string => JSON.stringify({ execution: { require_approval_for: [rule] } });
    writeFileSync(path.join(world.project, '.agent/config.json'), wants('read_file'));
    writeFileSync(path.join(world.home, '.agent/config.json'), wants('list_dir'));
    const { approve, asked } = callback({ verdict: 'no', scope: 'once' });
    const session = await sessionIn(world, { approve });
    await session.perform({ type: 'read_file', path: 'notes.md' });
    await session.perform({ type: 'list_dir', path: '.' });
    expect(asked.map(({ tool, origin }) => [tool, origin.layer])).toEqual([
      ['read_file', 'project'],
      ['list_files', 'user'],
    ]);
  });

  test('another word, variable, input, file or byte is another question', async () => {
    const world = await trustedWorld();
    const said = callback({ verdict: 'no', scope: 'once' });
    const session = await sessionIn(world, { approve: said.approve });
    const other = path.join(world.project, 'old.md');
    const actions: readonly Action[] = [
      script(),
      script('a'),
      script('a', 'b'),
      script('a b'),
      { type: 'run_script', skill: 'demo', script: 'go.sh', args: [], env: { A: '1' } },
      { type: 'run_script', skill: 'demo', script: 'go.sh', args: [], env: { A: '2' } },
      { type: 'run_script', skill: 'demo', script: 'go.sh', args: [], stdin: 'x' },
      { type: 'run_script', skill: 'demo', script: 'go.sh', args: [], inputs: [{ from: `host://${other}` }] },
      {
        type: 'run_script',
        skill: 'demo',
        script: 'go.sh',
        args: [],
        inputs: [{ from: `host://${other}`, to: 'work/x' }],
      },
      run('ls'),
      run('ls '),
      write('one'),
      write('two'),
    ];
    const askAll = async (): Promise<readonly string[]> => {
      const from = said.asked.length;
      for (const action of actions) {
        session.startTurn();
        await session.perform(action);
      }
      return said.asked.slice(from).map(({ id }) => id);
    };
    const first = await askAll();
    expect(new Set(first).size).toBe(actions.length);
    expect(await askAll()).toEqual(first);
    // The bytes that would run, and those that would be replaced.
    appendFileSync(path.join(world.demo, 'references/guide.md'), '.');
    writeFileSync(path.join(world.project, 'notes.md'), 'another note\n');
    const changed = await askAll();
    const isSame = changed.map((id, at) => id === first[at]);
    expect(isSame).toEqual(actions.map(({ type }) => type === 'run_command'));
  });

  test('two calls at once are asked one after the other', async () => {
    const world = await trustedWorld();
    let open = 0;
    const most: number[] = [];
    const ask = async (): Promise<unknown> => {
      open += 1;
      most.push(open);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      return yes('once');
    };
    const { approve } = watchedApprovals({ home: world.home, asker: { by: 'callback', ask } });
    const session = await sessionIn(world, { approve });
    const all = ['a', 'b', 'c'].map((name) => outcome(session, write(name, `${name}.md`)));
    expect([await Promise.all(all), most]).toEqual([
      ['done', 'done', 'done'],
      [1, 1, 1],
    ]);
  });
});

describe('between the yes and the deed', () => {
  test('a file that another program changes is not overwritten', async () => {
    const world = await trustedWorld();
    const target = path.join(world.project, 'notes.md');
    const { approve } = meanwhile(() => writeFileSync(target, 'a person was here\n'));
    const session = await sessionIn(world, { approve });
    expect(await outcome(session, write('mine'))).toBe('file/changed');
    expect(readFileSync(target, 'utf8')).toBe('a person was here\n');
    const made = path.join(world.project, 'made.md');
    const appears = await sessionIn(world, { approve: meanwhile(() => writeFileSync(made, 'first')).approve });
    expect(await outcome(appears, write('mine', 'made.md'))).toBe('file/changed');
    expect(readFileSync(made, 'utf8')).toBe('first');
  });

  test.each<readonly [string, Action]>([
    ['run_script', script()],
    ['run_command', { type: 'run_command', skill: 'demo', command: 'sh scripts/go.sh' }],
    ['start_command', { type: 'start_command', skill: 'demo', command: 'sh scripts/go.sh' }],
  ])('%s: a skill whose bytes are swapped does not run', async (_, action) => {
    const world = await trustedWorld();
    const mark = path.join(path.dirname(world.home), 'swapped');
    const swap = (): void => writeFileSync(path.join(world.demo, 'scripts/go.sh'), `#!/bin/sh\ntouch ${mark}\n`);
    const session = await sessionIn(world, { approve: meanwhile(swap).approve });
    expect([await outcome(session, action), existsSync(mark)]).toEqual(['skill/changed', false]);
  });

  test('a call that is given up while the question stands is not done, and the next one is asked', async () => {
    const world = await trustedWorld();
    const stop = new AbortController();
    let asked = 0;
    const ask = (): Promise<unknown> => {
      asked += 1;
      if (asked > 1) return Promise.resolve(yes('once'));
      queueMicrotask(() => stop.abort(new Error('given up')));
      return new Promise(() => undefined);
    };
    const { approve } = watchedApprovals({ home: world.home, asker: { by: 'callback', ask } });
    const session = await sessionIn(world, { approve });
    expect(await session.perform(write('x', 'new.md'), { signal: stop.signal })).toMatchObject({
      type: 'failed',
      code: 'run/interrupted',
    });
    expect(existsSync(path.join(world.project, 'new.md'))).toBe(false);
    expect([await outcome(session, write('x', 'new.md')), asked]).toEqual(['done', 2]);
  });

  /** Says yes, after something else happened. */
  function meanwhile(act: () => void): ReturnType<typeof watchedApprovals> {
    const ask = async (): Promise<unknown> => {
      act();
      return yes('once');
    };
    return watchedApprovals({ home: undefined, asker: { by: 'callback', ask } });
  }
});

verifies(
  'POL-3',
  'a question that nobody answers waits; another process answers it, and the same call goes through, once',
  async () => {
    const world = await trustedWorld();
    const pending = { folder: pendingFolder(world.home), waitMs: 0 };
    const open = async (): ReturnType<typeof sessionIn> => {
      const { approve } = watchedApprovals({ home: world.home, pending });
      return sessionIn(world, { approve });
    };
    const action = write('what was asked');
    expect(await outcome(await open(), action)).toBe('approval/pending');
    const env = { HOME: world.home };
    const listed = await spawnCli(world.project, ['approvals', '--json'], env);
    const { pending: waiting } = JSON.parse(listed.out) as { pending: readonly { request: ApprovalRequest }[] };
    const id = waiting[0]?.request.id.slice('sha256:'.length) ?? '';
    expect(await spawnCli(world.project, ['approvals', 'answer', id, 'yes'], env)).toMatchObject({ status: 0 });
    expect(await outcome(await open(), write('something else'))).toBe('approval/pending');
    expect(await outcome(await open(), action)).toBe('done');
    expect(readFileSync(path.join(world.project, 'notes.md'), 'utf8')).toBe('what was asked');
    expect(await outcome(await open(), action)).toBe('approval/pending');
  },
);

verifies(
  'POL-7',
  'each decision, question and answer is told with its rule and who wrote it, before anything is done',
  async () => {
    const world = await trustedWorld();
    const events: { readonly type: string }[] = [];
    const said = callback({ verdict: 'no', scope: 'once' });
    const rules = userPolicy({ ask: ['write_file(docs/**)'] });
    const session = await sessionIn(world, { approve: said.approve, record: (event) => events.push(event) }, rules);
    await session.perform(write('x', 'docs/a.md'));
    expect(events.filter(({ type }) => /action|decision|approval|observation/.test(type))).toMatchObject([
      { type: 'action', call: 1, askedBy: 'model' },
      {
        type: 'decision',
        call: 1,
        decision: {
          effect: 'ask',
          risk: 'high',
          rule: 'write_file(docs/**)',
          origin: { layer: 'option', where: 'options' },
        },
      },
      { type: 'approval-ask', call: 1, request: { tool: 'write_file', rule: 'write_file(docs/**)' } },
      { type: 'approval-answer', call: 1, answer: { verdict: 'no', scope: 'once', by: 'callback' } },
      { type: 'observation', call: 1, observation: { type: 'failed', code: 'approval/refused' } },
    ]);
  },
);
