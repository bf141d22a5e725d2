import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { SETTINGS, valueAt } from '../../../src/core/config/config-settings.ts';
import type { Config } from '../../../src/core/config/config.ts';
import type { LoadedConfig } from '../../../src/core/config/loaded-config.ts';
import { isProjectSource } from '../../../src/core/skill.ts';
import { VOCABULARY_NAMES } from '../../../src/core/vocabulary-names.ts';
import { openSkillTools } from '../../../src/packs/open-runtime.ts';
import { builtInValue } from '../../../src/runtime/config/config-merge.ts';
import { loadConfig } from '../../../src/runtime/config/config.ts';
import { OVERRIDE_RULES, type OverrideRule } from '../../../src/runtime/config/project-override-rules.ts';
import { createRuntime } from '../../../src/runtime/runtime.ts';
import { anyConfig } from '../../core/config/config-arbitrary.ts';
import { verifies } from '../../conformance/verifies.ts';
import { scratch, writeSkill } from '../../skills/registry/support.ts';

interface World {
  readonly project: string;
  readonly home: string;
  readonly write: (file: 'user' | 'project', config: object) => void;
}

function world(): World {
  const root = scratch();
  const [project, home] = [path.join(root, 'project'), path.join(root, 'home')];
  for (const folder of [project, home]) mkdirSync(path.join(folder, '.agent'), { recursive: true });
  return {
    project,
    home,
    write: (file, config) =>
      writeFileSync(path.join(file === 'user' ? home : project, '.agent/config.json'), JSON.stringify(config)),
  };
}

/** What is decided with only the user's file, and with a project's file as well. */
async function decide(user: Config, project: Config): Promise<{ before: LoadedConfig; after: LoadedConfig }> {
  const { write, ...folders } = world();
  const load = (): Promise<LoadedConfig> => loadConfig({ cwd: folders.project, home: folders.home, env: {} });
  write('user', user);
  const before = await load();
  write('project', project);
  return { before, after: await load() };
}

const PAIRS = VOCABULARY_NAMES.flatMap((user) => VOCABULARY_NAMES.map((project) => [user, project] as const));

const DIRECTIONS: Readonly<Record<Exclude<OverrideRule, object>, 'narrows' | 'offers' | 'presents' | 'forbidden'>> = {
  adds: 'narrows',
  least: 'narrows',
  on: 'narrows',
  off: 'narrows',
  within: 'narrows',
  isolates: 'narrows',
  apart: 'narrows',
  offline: 'narrows',
  precedes: 'offers',
  own: 'offers',
  hides: 'offers',
  replaces: 'presents',
  never: 'forbidden',
};

function settingsThat(direction: (typeof DIRECTIONS)[keyof typeof DIRECTIONS]): readonly string[] {
  return Object.entries(OVERRIDE_RULES).flatMap(([key, rule]) =>
    (typeof rule === 'object' ? 'narrows' : DIRECTIONS[rule]) === direction ? [key] : [],
  );
}

test('what a project decides alone is how something is shown; what it offers is listed here', () => {
  expect(settingsThat('presents')).toEqual([
    'vocabulary',
    'catalog.format',
    'session.lifetime',
    'session.placement',
    'model.params',
    'runs.directory',
    'evals.thresholds.pass_rate',
    'evals.thresholds.errors',
    'evals.thresholds.precision',
    'evals.thresholds.recall',
    'evals.thresholds.difference',
    'evals.thresholds.tokens',
    'evals.thresholds.usd',
    'evals.thresholds.seconds',
    'evals.prices',
  ]);
  expect(settingsThat('offers')).toEqual([
    'skill_roots',
    'skill_visibility',
    'packages.environments',
    'packages.skills',
  ]);
});

/** Whether a value decided with the project's file is at most the one decided without it. */
function isAtMost(rule: OverrideRule, before: unknown, after: unknown): boolean {
  const same = JSON.stringify(before) === JSON.stringify(after);
  if (typeof rule === 'object') {
    const { strictest, unset = '' } = rule;
    const rank = (value: unknown): number => strictest.findIndex((word) => word === (value ?? unset));
    return after === undefined ? same : rank(after) <= rank(before);
  }
  const [old, now] = [before, after].map((value) => (Array.isArray(value) ? (value as unknown[]) : []));
  switch (rule) {
    case 'least':
      return Number(after) <= Number(before);
    case 'on':
      return before !== true || after === true;
    case 'off':
      return before !== false || after === false;
    case 'adds':
      return old?.every((item) => now?.includes(item)) === true;
    case 'precedes': {
      const added = now?.slice(0, now.length - (old?.length ?? 0)) as { readonly source?: string }[];
      return (
        JSON.stringify(now?.slice(added.length)) === JSON.stringify(old) &&
        added.every(({ source = '' }) => isProjectSource(source))
      );
    }
    case 'isolates':
      return same || !['local', 'landlock'].includes(String(after));
    case 'offline':
      return same || after === 'mock' || after === 'rules';
    // The user's hosts are compared in `config-merge.test.ts`.
    case 'within':
    case 'replaces':
      return true;
    case 'apart':
    case 'own':
    case 'hides':
    case 'never':
      return same;
  }
}

function gains({ before, after }: { before: LoadedConfig; after: LoadedConfig }): readonly string[] {
  const inForce = ({ config }: LoadedConfig, setting: (typeof SETTINGS)[number]): unknown =>
    valueAt(config, setting.path) ?? builtInValue(setting);
  const settings = SETTINGS.filter(
    (setting) => !isAtMost(OVERRIDE_RULES[setting.key] ?? 'never', inForce(before, setting), inForce(after, setting)),
  ).map(({ key }) => key);
  const blocks = ({ config: { security, format } }: LoadedConfig): boolean =>
    security?.block_angle_brackets_in_frontmatter ?? format?.mode === 'strict';
  const [own, chosen] = [before.profile, after.profile];
  const isStrict = before.config.format?.mode === 'strict';
  return [
    ...settings,
    ...(blocks(before) && !blocks(after) ? ['angle brackets'] : []),
    ...(chosen.offersPrograms === true && own.offersPrograms !== true ? ['programs'] : []),
    ...(own.unusable ?? []).filter((code) => chosen.unusable?.includes(code) !== true),
    ...(isStrict ? (chosen.tolerates ?? []).filter((code) => own.tolerates?.includes(code) !== true) : []),
    // Unless the user's own folders are searched anyway.
    ...(chosen.installFolder?.user === own.installFolder?.user ||
    chosen.installFolder?.user === undefined ||
    (before.config.use_default_roots !== false && chosen.installFolder.user === '.agent/skills')
      ? []
      : ['folder of the user']),
  ];
}

describe('a project gains nothing', () => {
  verifies('CFG-1', 'by its file, whatever it says and whichever vocabularies it and the user chose', async () => {
    for (const [own, chosen] of PAIRS)
      await fc.assert(
        fc.asyncProperty(anyConfig, anyConfig, async (user, project) => {
          const decided = await decide({ ...user, vocabulary: own }, { ...project, vocabulary: chosen });
          expect(gains(decided)).toEqual([]);
        }),
        { numRuns: 8 },
      );
  });

  test('by taking a source name or a skill of others, and is told what to write', async () => {
    const sources = ['user', 'builtin', 'option', 'config', 'mcp:mail', 'team', 'Project', 'project-tools'];
    const theirs: Config = {
      skill_roots: ['plain', ...sources.map((source) => ({ path: source.replace(':', '-'), source }))],
      packages: { environments: { e: ['x'] }, skills: { pdf: 'e', 'project/csv': 'e', 'user/pdf': 'e' } },
    };
    const { after: loaded } = await decide({ packages: { environments: { e: ['y'] } } }, theirs);
    expect(loaded.config.skill_roots?.map((root) => (typeof root === 'string' ? root : root.source))).toEqual([
      ...Array<string>(7).fill('project'),
      'Project',
      'project-tools',
    ]);
    expect(loaded.config.packages).toEqual({ environments: { e: ['y'] } });
    expect(loaded.forOwnSkills).toEqual({
      packages: { environments: { e: ['x'] }, skills: { pdf: 'e', 'project/csv': 'e' } },
    });
    expect(loaded.diagnostics.map(({ message, hint }) => [message, hint])).toEqual([
      ...[1, 2, 3, 4, 5, 6].map((at) => [
        `"skill_roots.${String(at)}.source" is a source name of others, so the source is project`,
        'write "project", a name that starts with "project-", or no source',
      ]),
      [
        '"packages.skills.user/pdf" names a skill that is not of the project',
        'name a skill of the project without a source; settings for other skills belong in the user file',
      ],
    ]);
    expect((await decide(theirs, {})).after.diagnostics).toEqual([]);
  });

  test.each(PAIRS)('where the user chose %s, by choosing %s', async (own, chosen) => {
    expect(gains(await decide({ vocabulary: own }, { vocabulary: chosen }))).toEqual([]);
    expect(gains(await decide({ vocabulary: own, format: { mode: 'strict' } }, { vocabulary: chosen }))).toEqual([]);
    expect(gains(await decide({}, { vocabulary: chosen }))).toEqual([]);
  });

  test.each(PAIRS)('where the user chose %s, in skills and their text by choosing %s', async (own, chosen) => {
    const { project, home, write } = world();
    const skills = path.join(home, '.agent/skills');
    writeSkill(path.join(skills, 'long'), { body: 'A line.\n'.repeat(700) });
    writeSkill(path.join(skills, 'group/deep'));
    writeSkill(path.join(skills, 'brackets'), { fields: ['license: <none>'] });
    writeSkill(path.join(skills, 'folder'), { name: 'another-name' });
    writeSkill(path.join(home, '.claude/skills/other'));
    write('user', { vocabulary: own, policy: { sandboxed: 'allow' } });
    const open = async () => {
      const runtime = await createRuntime({ cwd: project, home, env: {}, builtin: false, cache: false });
      // With trpc of the user, programs would be offered, and an executor looked for.
      const tools = await openSkillTools({ runtime, ...(own === 'trpc' ? { execution: false } : {}) });
      const { session } = tools;
      const { text } = await tools.call(session.vocabulary.loadTool, {
        skill: 'long',
        skill_name: 'long',
        skills: [{ name: 'long' }],
      });
      const { skills: offered, execution } = session.offer;
      return { skills: offered, lines: text.split('A line.').length, hasPrograms: execution !== undefined };
    };
    const before = await open();
    write('project', { vocabulary: chosen });
    const after = await open();
    expect(after.skills.filter((name) => !before.skills.includes(name))).toEqual([]);
    expect(after.lines).toBeLessThanOrEqual(before.lines);
    expect(after.hasPrograms).toBe(false);
  });

  verifies('POL-13', 'by the skills in its folders, whatever they are called, until they are trusted', async () => {
    const folder = fc.constantFrom('.agent/skills', '.agents/skills', '.claude/skills', '.codex/skills', 'skills');
    const name = fc.constantFrom('pdf', 'PDF', 'csv', 'mail', 'other', 'user', '..', 'p\u0440df');
    const theirSkill = fc.record({
      folder,
      at: fc.constantFrom('pdf', 'csv', 'zzz', 'group/pdf', 'user'),
      name,
      isLink: fc.boolean(),
      fields: fc.subarray(['allowed-tools: Bash(*)', 'metadata:\n  version: "99"', 'user-invocable: false']),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(theirSkill, { minLength: 1, maxLength: 8 }),
        fc.constantFrom(...VOCABULARY_NAMES),
        async (theirs, vocabulary) => {
          const { project, home, write } = world();
          write('user', { vocabulary });
          for (const own of ['pdf', 'csv', 'mail'])
            writeSkill(path.join(home, '.agent/skills', own), { body: `Mine: ${own}.` });
          const decided = async (): Promise<object> => {
            const runtime = await createRuntime({ cwd: project, home, env: {}, builtin: false, cache: false });
            const session = await runtime.startSession({ approve: () => false });
            const { skills, emptyReason: _, ...offer } = session.offer;
            const loaded = await Promise.all(
              [...skills, ...theirs.map((skill) => skill.name)].map(async (skill) => {
                const observation = await session.perform({ type: 'load_skill', skill });
                return observation.type === 'skill-loaded' ? [skill, observation.text] : [];
              }),
            );
            return { skills, offer, loaded: loaded.filter((one) => one.length > 0) };
          };
          const before = await decided();
          for (const { folder: below, at, name: called, isLink, fields } of theirs) {
            const dir = path.join(project, below, at);
            if (existsSync(dir)) continue;
            mkdirSync(path.dirname(dir), { recursive: true });
            if (isLink) symlinkSync(path.join(home, '.agent/skills/csv'), dir);
            else writeSkill(dir, { name: called, body: 'Theirs.', fields });
          }
          expect(JSON.stringify(await decided())).toBe(JSON.stringify(before));
        },
      ),
      { numRuns: 20 },
    );
  });
});
