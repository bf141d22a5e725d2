import { existsSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { scratch } from '../skills/registry/support.ts';
import { runCli, skillText, writeFiles } from './run-cli.ts';

const TOML = `# skills-agent
skill_roots = [".agent/skills", "~/.agent/skills"]
retries = 3

[model]
provider = "openai"
params = { temperature = 0.5 }

[execution]
require_approval_for = [
  "write_file", # a comment
  "run_script",
]
executor = "local"

[security]
max_skill_body_lines = 400
block_angle_brackets_in_frontmatter = true
`;

const NOT_FROM_A_PROJECT =
  'not from a project: catalog.budget_tokens, session.max_loaded, sandbox.project, security.max_skill_body_lines, security.max_skill_body_characters, security.max_resource_characters; set vocabulary in ~/.agent/config.json, or pass --vocabulary\n';

describe('config init --from', () => {
  test('shows the file, asks before it writes, and then the project runs as one of that system', async () => {
    const root = scratch();
    writeFiles(root, { 'backend/skills/pdf/SKILL.md': skillText('pdf', 'Reads forms.') });
    const file = path.join(root, '.agent/config.json');
    const shown = await runCli(root, ['config', 'init', '--from', 'manusx', '--dry-run']);
    expect(shown).toEqual({
      status: 0,
      out: '{\n  "vocabulary": "manusx"\n}\n',
      err: `${NOT_FROM_A_PROJECT}to be written to ${file}\n`,
    });
    const asked = await runCli(root, ['config', 'init', '--from', 'manusx']);
    expect([asked.status, existsSync(file)]).toEqual([1, false]);
    expect((await runCli(root, ['config', 'init', '--from', 'manusx', '--yes'])).status).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe('{\n  "vocabulary": "manusx"\n}\n');
    expect((await runCli(root, ['list', '--set', 'builtin=false'])).out).toContain('pdf');
    const requested = await runCli(root, ['call', 'skill_request', '{"skill_name": "pdf"}', '--trust-project']);
    expect([requested.status, JSON.parse(requested.out)]).toMatchObject([0, { success: true }]);
  });

  test('takes over config.toml of skills-agent, and names what it ignored', async () => {
    const root = scratch();
    writeFiles(root, { '.agent/config.toml': TOML });
    const { status, out } = await runCli(root, ['config', 'init', '--from', 'skills-agent', '--yes', '--json']);
    const config = {
      vocabulary: 'skills-agent',
      skill_roots: ['.agent/skills', '~/.agent/skills'],
      model: { params: { temperature: 0.5 } },
      execution: { require_approval_for: ['write_file', 'run_script'] },
      security: { max_skill_body_lines: 400, block_angle_brackets_in_frontmatter: true },
    };
    expect([status, JSON.parse(out)]).toEqual([
      0,
      {
        schema: 1,
        file: path.join(root, '.agent/config.json'),
        config,
        read: ['.agent/config.toml'],
        ignored: [
          '.agent/config.toml: model.provider is reserved for the user: set it in ~/.agent/config.json',
          '.agent/config.toml: execution.executor is reserved for the user: set it in ~/.agent/config.json',
          '.agent/config.toml: retries is not a setting here',
        ],
        forUserOnly: ['catalog.budget_tokens', 'session.max_loaded'],
        written: true,
      },
    ]);
    // What was written is valid, and asks for nothing that a project may not have.
    expect(JSON.parse((await runCli(root, ['config', '--json'])).out)).toMatchObject({
      diagnostics: [{ code: 'config/ignored-file' }],
    });
  });

  test('takes the folder of skills from .env, and no other variable', async () => {
    const root = scratch();
    writeFiles(root, {
      '.env': 'API_KEY=canary\nexport DOCUMENT_ROOT="./data"\n',
      'backend/infra/config.py': 'DOCUMENT_ROOT = "."\n',
    });
    const { out, err } = await runCli(root, ['config', 'init', '--from', 'openseed', '--dry-run']);
    expect(JSON.parse(out)).toEqual({ vocabulary: 'openseed', skill_roots: ['data/skills'] });
    expect(out + err).not.toContain('canary');
    expect(err).toContain('ignored backend/infra/config.py: code is not read');
    writeFiles(root, { '.env': 'SKILLS_ROOT=../elsewhere\n' });
    const outside = await runCli(root, ['config', 'init', '--from', 'trpc', '--dry-run']);
    expect(JSON.parse(outside.out)).toEqual({ vocabulary: 'trpc' });
    expect(outside.err).toContain('ignored .env: SKILLS_ROOT is outside of the project');
  });

  test('the folder that .env names is the one root, and where new and install put skills', async () => {
    const root = scratch();
    writeFiles(root, {
      '.git/HEAD': '',
      '.env': 'DOCUMENT_ROOT=./documents\n',
      'skills/a/SKILL.md': skillText('a', 'Is not read.'),
      'documents/skills/b/SKILL.md': skillText('b', 'Reads forms.'),
      'source/c/SKILL.md': skillText('c', 'Fills forms. Use when a form is empty.'),
    });
    expect((await runCli(root, ['config', 'init', '--from', 'openseed', '--yes'])).status).toBe(0);
    expect((await runCli(root, ['install', './source/c', '--yes'])).status).toBe(0);
    expect((await runCli(root, ['new', 'd', '--description', 'Fills forms.'])).status).toBe(0);
    expect(readdirSync(path.join(root, 'documents/skills')).filter((name) => /^\w$/.test(name))).toEqual([
      'b',
      'c',
      'd',
    ]);
    const listed = await runCli(root, ['call', 'list_skills', '{}', '--trust-project', '-q']);
    expect(JSON.parse(listed.out)).toEqual(['b', 'c', 'd']);
  });

  test('install into a folder that the vocabulary does not search says so', async () => {
    const root = scratch();
    const env = { HOME: path.join(root, 'home') };
    writeFiles(root, { '.git/HEAD': '', 'home/.keep': '', 'source/c/SKILL.md': skillText('c', 'Fills forms.') });
    const install = ['install', './source/c', '--yes', '--scope', 'user'];
    const { err } = await runCli(root, install, { ...env, SKILLWRIGHT_VOCABULARY: 'trpc' });
    const folder = path.join(root, 'home/.agents/skills');
    expect(err).toContain(`${folder} is not searched in the vocabulary trpc: add it to skill_roots, or pass --root`);
    rmSync(folder, { recursive: true });
    expect((await runCli(root, install, env)).err).not.toContain('is not searched');
  });

  test('writes to no folder that a link of the project leads to', async () => {
    const root = scratch();
    writeFiles(root, { 'home/.agent/keep': '', 'repo/.env': 'DOCUMENT_ROOT=docs\n' });
    symlinkSync('../home/.agent', path.join(root, 'repo/.agent'));
    for (const more of [['--dry-run'], ['--yes']]) {
      const { status, err } = await runCli(path.join(root, 'repo'), ['config', 'init', '--from', 'openseed', ...more]);
      expect([status, err.includes('is a link to another folder; nothing is written there')]).toEqual([1, true]);
    }
    expect(readdirSync(path.join(root, 'home/.agent'))).toEqual(['keep']);
  });

  test('overwrites nothing: a file and a link that leads nowhere are refused with the line to add', async () => {
    const root = scratch();
    writeFiles(root, { '.agent/config.json': '{}', 'linked/.agent/keep': '' });
    symlinkSync(path.join(root, 'target.json'), path.join(root, 'linked/.agent/config.json'));
    for (const folder of [root, path.join(root, 'linked')]) {
      const { status, err } = await runCli(folder, ['config', 'init', '--from', 'trpc', '--yes']);
      expect(status).toBe(1);
      expect(err).toContain('hint: add this line to it: "vocabulary": "trpc"');
    }
    expect(readFileSync(path.join(root, '.agent/config.json'), 'utf8')).toBe('{}');
    expect(existsSync(path.join(root, 'target.json'))).toBe(false);
  });

  test('an unknown system is answered with the nearest one, and a missing one with all', async () => {
    const root = scratch();
    const unknown = await runCli(root, ['config', 'init', '--from', 'openseeds']);
    expect([unknown.status, unknown.err]).toEqual([2, expect.stringContaining('openseed')]);
    const missing = await runCli(root, ['config', 'init']);
    expect([missing.status, missing.err]).toEqual([2, expect.stringContaining('openseed, manusx, trpc, skills-agent')]);
  });
});
