import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { examineAgent, type AgentView } from '../../src/activation/agent-view.ts';
import { AGENTS } from '../../src/activation/agents/agents.ts';
import { verifies } from '../conformance/verifies.ts';
import { plainSkill, writeOddSkills, writeSkill } from './odd-skills.ts';
import { RECORDED } from './recorded-lists.ts';

let top: string;
beforeEach(() => {
  top = mkdtempSync(path.join(os.tmpdir(), 'activation-'));
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

async function view(id: string, place: { readonly home: string; readonly cwd: string }, env = {}): Promise<AgentView> {
  const agent = AGENTS.find((one) => one.id === id);
  if (agent === undefined) throw new Error(id);
  return (await examineAgent(agent, { surroundings: { ...place, env } })).view;
}

const listed = ({ skills }: AgentView): readonly string[] =>
  skills.filter(({ shown }) => shown !== 'none').map(({ name }) => name);

describe('skills in many folders, with odd frontmatter', () => {
  for (const { id } of AGENTS)
    verifies('ACT-1', `${id} lists what the real program listed`, async () => {
      const place = writeOddSkills(top, id === 'claude-code' ? '.claude' : '.agents');
      const { skills } = await view(id, place);
      const names = skills
        .filter(({ shown }) => shown !== 'none')
        .map(({ name, text }) => (name === 'clash' ? `clash: ${text}` : name.replace(/a{70}/, 'a-70')));
      // Gemini CLI lists skills as its file system returns them, and shows all of them.
      const order = (list: readonly string[]): readonly string[] => (id === 'gemini-cli' ? list.toSorted() : list);
      expect(order(names)).toEqual(order(RECORDED[id] ?? []));
    });

  test('each skill that is not listed has a reason', async () => {
    const place = writeOddSkills(top, '.agents');
    const { skills } = await view('github-copilot', place);
    const reasons = skills
      .filter(({ shown, path: file }) => shown === 'none' && file.startsWith(path.join(place.home, '.agents')))
      .map(({ name, reason }) => [name.replace(/a{70}/, 'a-70'), reason?.code, reason?.message.replaceAll(top, '')]);
    expect(reasons).toEqual([
      ['a-70', 'rejected', 'github-copilot ignores it: the name has 70 characters, the limit is 64'],
      ['broken-yaml', 'rejected', 'github-copilot ignores it: the frontmatter is not valid YAML'],
      ['clash', 'shadowed', '/repo/sub/.github/skills/clash/SKILL.md has the same name and wins'],
      ['colon', 'rejected', 'github-copilot ignores it: the frontmatter is not valid YAML'],
      ['desc-1025', 'rejected', 'github-copilot ignores it: the description has 1025 characters, the limit is 1024'],
      ['long-desc', 'rejected', 'github-copilot ignores it: the description has 2100 characters, the limit is 1024'],
      ['manual', 'hidden', 'disable-model-invocation is true'],
      ['no-front', 'rejected', 'github-copilot ignores it: SKILL.md has no frontmatter'],
      ['num-desc', 'rejected', 'github-copilot ignores it: name or description is not text'],
      ['num-name', 'rejected', 'github-copilot ignores it: name or description is not text'],
    ]);
  });
});

describe('settings', () => {
  const CASES = [
    ['claude-code', '.claude', '.claude/settings.json', '{"skillOverrides": {"b": "off"}}'],
    ['codex', '.agents', '.codex/config.toml', 'model = "x"\n[[skills.config]]\nname = "b"\nenabled = false\n'],
    ['gemini-cli', '.agents', '.gemini/settings.json', '{\n  // not now\n  "skills": {"disabled": ["B",]}\n}'],
    ['qwen-code', '.agents', '.qwen/settings.json', '{"skills": {"disabled": ["b"]}}'],
    ['github-copilot', '.agents', '.copilot/settings.json', '{"disabledSkills": ["b"]}'],
    [
      'opencode',
      '.agents',
      '.config/opencode/opencode.json',
      '{"permission": {"skill": {"*": "allow", "b*": "deny"}}}',
    ],
  ] as const;
  for (const [id, folder, file, text] of CASES)
    test(`${id} hides a skill that its settings disable, and settings that are not JSON are named`, async () => {
      const place = { home: path.join(top, 'home'), cwd: path.join(top, 'project') };
      mkdirSync(place.cwd, { recursive: true });
      for (const name of ['a', 'b']) writeSkill(path.join(place.home, folder, 'skills', name), plainSkill(name));
      const settings = path.join(place.home, file);
      mkdirSync(path.dirname(settings), { recursive: true });
      writeFileSync(settings, text);
      const hidden = await view(id, place);
      expect([listed(hidden), hidden.skills.find(({ name }) => name === 'b')?.reason?.code]).toEqual([
        ['a'],
        'disabled',
      ]);
      writeFileSync(settings, '{"skills": nonsense');
      const broken = await view(id, place);
      expect([listed(broken), broken.notes]).toEqual([
        ['a', 'b'],
        [
          `${settings} is not ${file.endsWith('.toml') ? 'TOML: line 1 is not valid TOML' : 'JSON'}; what it hides is unknown`,
        ],
      ]);
    });

  test('codex hides a skill whose agents/openai.yaml forbids implicit use', async () => {
    const place = { home: path.join(top, 'home'), cwd: top };
    const folder = path.join(place.home, '.agents/skills/a');
    writeSkill(folder, plainSkill('a'));
    mkdirSync(path.join(folder, 'agents'));
    writeFileSync(path.join(folder, 'agents/openai.yaml'), 'policy:\n  allow_implicit_invocation: false\n');
    const { skills } = await view('codex', place);
    expect(skills.map(({ shown, reason }) => [shown, reason?.code])).toEqual([['none', 'hidden']]);
  });
});

test('a file in the place of a folder, and a folder in the place of SKILL.md, stop nothing', async () => {
  const place = { home: path.join(top, 'home'), cwd: path.join(top, 'project') };
  mkdirSync(path.join(place.cwd, '.agents'), { recursive: true });
  writeFileSync(path.join(place.cwd, '.agents/skills'), 'not a folder');
  writeSkill(path.join(place.home, '.agents/skills/good'), plainSkill('good'));
  mkdirSync(path.join(place.home, '.agents/skills/bad/SKILL.md'), { recursive: true });
  for (const id of ['codex', 'gemini-cli', 'github-copilot', 'opencode', 'pi', 'qwen-code']) {
    const { skills } = await view(id, place);
    expect(skills.map(({ name, shown }) => [name, shown])).toEqual([
      ['good', 'full'],
      ['bad', 'none'],
    ]);
  }
});

test('the text of a private file is not shown as that of a skill whose SKILL.md is a link to it', async () => {
  const place = { home: path.join(top, 'home'), cwd: path.join(top, 'project') };
  const key = path.join(place.home, '.ssh/id_rsa');
  mkdirSync(path.dirname(key), { recursive: true });
  writeFileSync(key, 'PRIVATE words\n');
  writeFileSync(path.join(place.home, '.ssh/notes'), plainSkill('notes', 'PRIVATE words.'));
  writeSkill(path.join(top, 'elsewhere/linked'), plainSkill('linked'));
  for (const folder of ['.agents', '.claude']) {
    const skills = path.join(place.cwd, folder, 'skills');
    for (const [name, target] of [
      ['a', key],
      ['b', '../../../../home/.ssh/notes'],
    ] as const) {
      mkdirSync(path.join(skills, name), { recursive: true });
      symlinkSync(target, path.join(skills, name, 'SKILL.md'));
    }
    mkdirSync(path.join(skills, 'own'));
    writeFileSync(path.join(skills, 'own/README.md'), plainSkill('own'));
    symlinkSync('README.md', path.join(skills, 'own/SKILL.md'));
    symlinkSync(path.join(top, 'elsewhere/linked'), path.join(skills, 'linked'));
  }
  for (const { id } of AGENTS) {
    const shown = await view(id, place);
    expect([id, listed(shown).toSorted(), JSON.stringify(shown).includes('PRIVATE')]).toEqual([
      id,
      ['linked', 'own'],
      false,
    ]);
    expect(shown.skills.filter(({ name }) => /^[ab]$/.test(name)).map(({ reason }) => reason?.message)).toEqual(
      ['a', 'b'].map(() => `${id} ignores it: SKILL.md cannot be read: it is a link to a file outside of the skill`),
    );
  }
});

test('a frontmatter of broken YAML without end and settings with tables without end hold up nothing', async () => {
  const place = { home: path.join(top, 'home'), cwd: path.join(top, 'project') };
  writeSkill(path.join(place.cwd, '.agents/skills/big'), plainSkill('big', '"'.repeat(900_000)));
  writeSkill(path.join(place.cwd, '.agents/skills/good'), plainSkill('good'));
  mkdirSync(path.join(place.home, '.codex'), { recursive: true });
  writeFileSync(path.join(place.home, '.codex/config.toml'), '[[a]]\n'.repeat(200_000));
  const { skills } = await view('codex', place);
  expect(skills.map(({ name, reason }) => [name, reason?.message])).toEqual([
    ['good', undefined],
    ['big', 'codex ignores it: SKILL.md cannot be read: its frontmatter has more than 32000 characters'],
  ]);
});
