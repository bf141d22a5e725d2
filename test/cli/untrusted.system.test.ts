import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { sealKey } from '../../src/platform/fs/seal-key.ts';
import { verifies } from '../conformance/verifies.ts';
import { scratch, writeSkill } from '../skills/registry/support.ts';
import { runCli, type CliResult } from './run-cli.ts';

interface World {
  readonly home: string;
  readonly project: string;
  readonly dir: string;
  readonly run: (...words: readonly string[]) => Promise<CliResult>;
}

/** A project with one skill of its own, and a home folder with another. */
function world(name = 'project'): World {
  const base = scratch();
  const [home, project] = [path.join(base, 'home'), path.join(base, name)];
  const dir = path.join(project, '.agent/skills/release');
  writeSkill(dir, { description: 'Writes release notes.' });
  writeSkill(path.join(home, '.agent/skills/mine'), { description: 'Is my own.' });
  mkdirSync(path.join(project, '.git'));
  return { home, project, dir, run: (...words) => runCli(base, ['-C', project, ...words]) };
}

const distrustOf = ({ dir, project }: World): object => ({
  reason: `the skill "${dir}" is not trusted: review it, then run \`skillwright trust\``,
  why: 'unknown',
  command: `skillwright trust ${project}`,
});

describe('a skill of an untrusted project', () => {
  test('is named on stderr, also where a skill of the user has its name', async () => {
    const at = world();
    writeSkill(path.join(at.project, '.agent/skills/mine'), { description: 'Is of the project.' });
    const { status, out, err } = await at.run('call', 'load_skill', '{"skill": "mine"}', '--log', 'quiet');
    expect([status, out.includes('Is of the project'), err.split('\n')[0]]).toEqual([
      0,
      false,
      'warning: 2 skills are hidden until you trust this project: release, mine',
    ]);
  });

  test('is refused by call with exit code 3, also where no other skill can be used', async () => {
    const at = world();
    writeSkill(path.join(at.project, 'skills/release'), { description: 'Writes release notes.' });
    const load = ['call', 'skill_load', '{"skill": "release"}', '--vocabulary', 'trpc'];
    const mine = '{"skill_roots": ["~/mine"]}';
    writeSkill(path.join(at.home, 'mine/other'), { description: 'Is my own.' });
    writeFileSync(path.join(at.home, '.agent/config.json'), mine);
    const beside = await at.run(...load);
    rmSync(path.join(at.home, '.agent'), { recursive: true });
    const alone = await at.run(...load);
    expect([beside.status, alone.status]).toEqual([3, 3]);
    expect(alone.err).toContain('1 skill is hidden until you trust this project');
    expect((await at.run('call', 'skill_run', '{}', '--vocabulary', 'trpc', '--executor', 'none')).status).toBe(1);
  });

  verifies('POL-5', 'is marked by list, with the command that trusts it, and not after that', async () => {
    const at = world();
    const before = await at.run('list', '--source', 'project');
    expect(before).toEqual({
      status: 0,
      out: '- release  project, untrusted  Writes release notes.\n',
      err: `1 untrusted, hidden from models; review, then run: skillwright trust ${at.project}\n`,
    });
    await at.run('trust', '--yes');
    const after = await at.run('list', '--source', 'project');
    expect(after).toEqual({ status: 0, out: '  release  project, trusted  Writes release notes.\n', err: '' });
  });

  test('has the reason and the command in JSON; what is trusted says so', async () => {
    const at = world();
    const { skills } = JSON.parse((await at.run('list', '--json')).out) as { skills: Record<string, unknown>[] };
    const marked = skills.filter(({ source }) => source !== 'builtin');
    expect(marked.map(({ name, trusted, distrust }) => ({ name, trusted, distrust }))).toEqual([
      { name: 'mine', trusted: true, distrust: undefined },
      { name: 'release', trusted: false, distrust: distrustOf(at) },
    ]);
    const { results } = JSON.parse((await at.run('search', 'release', 'notes', '-n', '1', '--json')).out) as {
      results: unknown[];
    };
    expect(results).toEqual([
      expect.objectContaining({ name: 'release', source: 'project', trusted: false, distrust: distrustOf(at) }),
    ]);
  });

  test('is marked by search and inspect', async () => {
    const at = world();
    const found = await at.run('search', 'release', 'notes', '-n', '1');
    expect(found.out).toMatch(/^ +\d+\.\d {2}release {2}project, untrusted {2}Writes release notes\.\n$/);
    expect(found.err).toBe(`1 untrusted, hidden from models; review, then run: skillwright trust ${at.project}\n`);
    const shown = await at.run('inspect', 'release');
    expect(shown.out).toContain('auto, untrusted');
    expect(shown.err).toContain(`hidden from models: the skill "${at.dir}" is not trusted`);
    expect(shown.err).toContain(`skillwright trust ${at.project}`);
    const { skill } = JSON.parse((await at.run('inspect', 'release', '--json')).out) as { skill: object };
    expect(skill).toMatchObject({ trusted: false, distrust: distrustOf(at) });
    expect((await at.run('inspect', 'mine', '--json')).out).toContain('"trusted": true');
  });

  test('that changed is marked by list and inspect, which name it again', async () => {
    const at = world();
    expect((await at.run('trust', '--yes')).status).toBe(0);
    expect((await at.run('inspect', 'release', '--json')).out).toContain('"trusted": true');
    writeFileSync(path.join(at.dir, 'new.md'), 'more');
    expect((await at.run('inspect', 'release')).err).toContain('changed after it was trusted');
    expect((await at.run('list', '--source', 'project')).out).toContain('release  project, untrusted');
  });

  test('has a command that a shell takes as it is, and nothing in it acts on the screen', async () => {
    const at = world("it's $(here)\u001B[31m");
    const { skills } = JSON.parse((await at.run('list', '--json')).out) as {
      skills: { name: string; distrust?: { command: string } }[];
    };
    expect(skills.find(({ name }) => name === 'release')?.distrust?.command).toBe(
      `skillwright trust '${at.project.replace("'", String.raw`'\''`)}'`,
    );
    expect((await at.run('list')).err).not.toContain('\u001B');
  });

  test('of a folder elsewhere that a project names is trusted with that folder', async () => {
    const at = world();
    const other = path.join(path.dirname(at.project), 'elsewhere');
    writeSkill(path.join(other, 'helper'));
    writeFileSync(path.join(at.project, '.agent/config.json'), JSON.stringify({ skill_roots: ['../elsewhere'] }));
    const { skills } = JSON.parse((await at.run('list', '--json')).out) as {
      skills: { name: string; distrust?: { command: string } }[];
    };
    expect(skills.flatMap(({ name, distrust }) => (distrust === undefined ? [] : [[name, distrust.command]]))).toEqual([
      ['helper', `skillwright trust ${other}`],
      ['release', `skillwright trust ${at.project}`],
    ]);
  });
});

type Findings = readonly { readonly name: string; readonly status: string; readonly detail: string }[];

describe('doctor', () => {
  const RIGHTS = new Set(['project', 'home', 'seal key', 'trust', 'approvals', 'runs']);
  const findings = async ({ run }: World): Promise<Findings> => {
    const { out } = await run('doctor', '--no-probe', '--json');
    const all = (JSON.parse(out) as { findings: Findings }).findings;
    return all.filter(({ name }) => RIGHTS.has(name));
  };

  test('says that a project is not trusted, and what is there; nothing is made by looking', async () => {
    const at = world();
    const agent = path.join(at.home, '.agent');
    expect(await findings(at)).toEqual([
      {
        name: 'project',
        status: 'warning',
        detail: `${at.project} is not trusted; 1 untrusted, hidden from models; review, then run: skillwright trust ${at.project}`,
      },
      { name: 'seal key', status: 'ok', detail: `${agent}/seal.key (created on first use)` },
      { name: 'trust', status: 'ok', detail: `${agent}/trust.json: absent` },
      { name: 'approvals', status: 'ok', detail: `${agent}/approvals.json: absent` },
      { name: 'runs', status: 'ok', detail: `${at.project}/.agent/runs (0 runs)` },
    ]);
    expect([existsSync(`${agent}/seal.key`), existsSync(`${at.project}/.agent/runs`)]).toEqual([false, false]);
  });

  test('says that it is trusted', async () => {
    const at = world();
    await at.run('trust', '--yes');
    const [project, key, trust] = await findings(at);
    expect([project, key, trust]).toEqual([
      { name: 'project', status: 'ok', detail: `${at.project} is trusted; no untrusted skills` },
      { name: 'seal key', status: 'ok', detail: `${at.home}/.agent/seal.key` },
      { name: 'trust', status: 'ok', detail: `${at.home}/.agent/trust.json: 1 trusted folders` },
    ]);
  });

  test('says what cannot be used, and why', async () => {
    const at = world();
    sealKey(at.home);
    chmodSync(path.join(at.home, '.agent/seal.key'), 0o644);
    writeFileSync(path.join(at.home, '.agent/approvals.json'), 'x');
    symlinkSync(at.home, path.join(at.project, '.agent/runs'));
    const found = await findings(at);
    expect(found.map(({ name, status }) => [name, status])).toEqual([
      ['project', 'warning'],
      ['seal key', 'warning'],
      ['trust', 'ok'],
      ['approvals', 'warning'],
      ['runs', 'warning'],
    ]);
    expect(found.map(({ detail }) => detail).slice(1)).toEqual([
      expect.stringContaining('other users have access to it; runs are not sealed'),
      `${at.home}/.agent/trust.json: absent`,
      `${at.home}/.agent/approvals.json is ignored: it is not JSON`,
      `cannot use ${at.project}/.agent/runs: it is a symbolic link; no run can start`,
    ]);
  });

  test('knows a home folder that is not there, and runs that are off or elsewhere', async () => {
    const at = world();
    rmSync(at.home, { recursive: true });
    const { out } = await runCli(at.project, ['doctor', '--no-probe', '--json', '--set', 'runs.enabled=false'], {
      HOME: '',
    });
    const all = (JSON.parse(out) as { findings: Findings }).findings;
    expect(all.filter(({ name }) => RIGHTS.has(name)).slice(1)).toEqual([
      {
        name: 'home',
        status: 'warning',
        detail: 'HOME is not set: projects cannot be trusted, answers are not stored, runs are not sealed',
      },
      { name: 'runs', status: 'ok', detail: 'not recorded (runs.enabled is false)' },
    ]);
  });
});
