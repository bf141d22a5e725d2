import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { AGENTS } from '../../../src/packs/agents/agent-table.ts';
import { agentFolder, baseOfRoot, detectAgents, isKnownFolder } from '../../../src/packs/agents/agents.ts';
import { detectedTargets, findTargets } from '../../../src/packs/agents/place-targets.ts';
import { scratch } from '../../skills/registry/support.ts';

const byId = (id: string) => {
  const agent = AGENTS.find((one) => one.id === id);
  if (agent === undefined) throw new Error(`no ${id}`);
  return agent;
};

describe('the table of agents', () => {
  test('has the agents that people use, each once, sorted', () => {
    const ids = AGENTS.map(({ id }) => id);
    expect(ids.length).toBeGreaterThanOrEqual(40);
    expect(ids).toEqual([...new Set(ids)].toSorted());
    expect(ids).toEqual(
      expect.arrayContaining(
        'amp claude-code cline codex continue crush cursor droid gemini-cli github-copilot goose junie kilo kiro-cli opencode openhands pi qwen-code roo trae warp windsurf zed'.split(
          ' ',
        ),
      ),
    );
  });

  test.each(AGENTS.map((agent) => [agent.id, agent] as const))('%s has folders of its own notation', (_, agent) => {
    expect(agent.id).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
    expect(agent.name.trim()).not.toBe('');
    expect(agent.project).toMatch(/^(?!\/)[\w.-]+(?:\/[\w.-]+)*\/skills$/);
    expect(agent.project).not.toContain('..');
    if (agent.user !== undefined)
      expect(agent.user).toMatch(/^(?:~|\$\{[A-Z_]+:-~\/[\w./-]+\})(?:\/[\w.-]+)*\/skills$/);
    for (const trace of agent.detect)
      expect(trace).toMatch(/^(?:~\/|\/|\$\{[A-Z_]+:-~\/[\w./-]+\}|[\w.])[\w./-]*(?:#[\w-]+)?$/);
    expect([agent.from, agent.checked]).toEqual([
      expect.stringMatching(/\w/),
      expect.stringMatching(/^20\d\d-\d\d-\d\d$/),
    ]);
  });
});

describe('agentFolder', () => {
  const surroundings = { home: '/home/me', env: { CLAUDE_CONFIG_DIR: '/etc/claude', XDG_CONFIG_HOME: 'relative' } };

  test('is below the project, or below the home folder with its variables', () => {
    expect(agentFolder(byId('claude-code'), { scope: 'project', base: '/p', surroundings })).toBe('/p/.claude/skills');
    expect(agentFolder(byId('claude-code'), { scope: 'user', base: '/home/me', surroundings })).toBe(
      '/etc/claude/skills',
    );
    expect(agentFolder(byId('codex'), { scope: 'user', base: '/home/me', surroundings })).toBe(
      '/home/me/.agents/skills',
    );
    // A relative value of a variable would depend on the working directory.
    expect(agentFolder(byId('amp'), { scope: 'user', base: '/home/me', surroundings })).toBe(
      '/home/me/.config/agents/skills',
    );
  });
});

describe('detectAgents', () => {
  test('finds traces in the home folder, at a variable and in the project', () => {
    const world = scratch();
    for (const folder of ['home/.claude', 'home/.pi/agent', 'elsewhere', 'project/.windsurf', 'project/data'])
      mkdirSync(path.join(world, folder), { recursive: true });
    const env = { CODEX_HOME: path.join(world, 'elsewhere') };
    const found = detectAgents({ home: path.join(world, 'home'), env }, path.join(world, 'project'));
    expect(found.map(({ agent, at }) => [agent.id, path.relative(world, at)])).toEqual([
      ['claude-code', 'home/.claude'],
      ['codex', 'elsewhere'],
      ['pi', 'home/.pi/agent'],
      ['windsurf', 'project/.windsurf'],
    ]);
  });

  test('finds eve by a dependency of the project, and nothing by a package.json that cannot be read', () => {
    const project = scratch();
    const found = (manifest: string): readonly string[] => {
      writeFileSync(path.join(project, 'package.json'), manifest);
      return detectAgents({ home: undefined, env: {} }, project)
        .filter(({ at }) => !at.startsWith('/etc'))
        .map(({ agent }) => agent.id);
    };
    expect(found('{"dependencies": {"eve": "^1.0.0"}}')).toEqual(['eve']);
    expect(found('{"devDependencies": {"eve": "1"}}')).toEqual(['eve']);
    for (const manifest of ['{"dependencies": {"steve": "1"}}', '{"dependencies": ["eve"]}', '{', '[]', 'null'])
      expect(found(manifest), manifest).toEqual([]);
  });

  test('finds promptscript and codewhale by their files', () => {
    const world = scratch();
    for (const folder of ['home/.codewhale', 'project/.promptscript'])
      mkdirSync(path.join(world, folder), { recursive: true });
    const found = detectAgents({ home: path.join(world, 'home'), env: {} }, path.join(world, 'project'));
    expect(found.filter(({ at }) => at.startsWith(world)).map(({ agent }) => agent.id)).toEqual([
      'codewhale',
      'promptscript',
    ]);
  });

  test('finds nothing without a home folder and a project', () => {
    expect(detectAgents({ home: undefined, env: {} }, undefined).filter(({ at }) => !at.startsWith('/etc'))).toEqual(
      [],
    );
  });
});

describe('findTargets', () => {
  const find = (agents: readonly string[], home = scratch()) => {
    const targets = findTargets(
      { root: path.join(home, 'root'), surroundings: { cwd: home, home, env: {} } },
      { agents },
    );
    return 'type' in targets ? targets.code : targets.flatMap((target) => target.agents);
  };

  test('looks up ids, each once, and all detected ones', () => {
    const home = scratch();
    mkdirSync(path.join(home, '.adal'));
    expect(find(['kode', 'adal', 'kode'], home)).toEqual(['kode', 'adal']);
    expect(find(['all', 'kode'], home)).toEqual(['adal', 'kode']);
    expect(find([], home)).toEqual([]);
  });

  test('an agent without a folder of the user takes skills of projects only, and universal is never detected', () => {
    const project = scratch();
    mkdirSync(path.join(project, '.git'));
    const surroundings = { cwd: project, home: scratch(), env: {} };
    const folders = (root: string): unknown => {
      const targets = findTargets({ root, surroundings }, { agents: ['eve', 'universal'] });
      return 'type' in targets
        ? [targets.code, targets.message]
        : targets.map(({ folder }) => path.relative(project, folder));
    };
    expect(folders(path.join(project, '.agents/skills'))).toEqual(['agent/skills', '.agents/skills']);
    expect(folders(path.join(surroundings.home, '.agents/skills'))).toEqual([
      'install/agent',
      'Eve reads skills of projects only',
    ]);
    // A detected agent that has no folder there is passed over.
    writeFileSync(path.join(project, 'package.json'), '{"dependencies": {"eve": "1"}}');
    mkdirSync(path.join(surroundings.home, '.adal'));
    const used = (root: string): readonly string[] =>
      detectedTargets({ root, surroundings }).flatMap(({ agents }) => agents);
    expect(used(path.join(project, '.agents/skills'))).toEqual(['adal', 'eve']);
    expect(used(path.join(surroundings.home, '.agents/skills'))).toEqual(['adal']);
  });

  test('refuses an unknown id and suggests a known one', () => {
    expect(() => find(['claud-code'])).toThrow(
      expect.objectContaining({
        code: 'input/invalid',
        message: 'unknown agent: "claud-code"',
        hint: expect.stringMatching(/^did you mean claude-code.*known agents: adal, /),
      }),
    );
  });

  test('refuses all where no agent was detected', () => {
    expect(() => find(['all'])).toThrow('no agent was detected for --agent all');
  });
});

describe('baseOfRoot', () => {
  test.each([
    ['/p/.agents/skills', '/p'],
    ['/p/.agent/skills', '/p'],
    ['/p/.claude/skills', '/p'],
    ['/h/.codeium/windsurf/skills', '/h'],
    ['/p/own', '/p'],
  ])('%s belongs to %s', (root, base) => {
    expect(baseOfRoot(root)).toBe(base);
  });

  test('knows the folders of agents and no others', () => {
    expect(isKnownFolder('/p/.claude/skills', '/p')).toBe(true);
    expect(isKnownFolder('/p/node_modules', '/p')).toBe(false);
    expect(isKnownFolder('/p/../.claude/skills', '/p')).toBe(false);
    expect(isKnownFolder('/p', '/p')).toBe(false);
  });
});
