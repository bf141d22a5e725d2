import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { builtInRules, hiddenNames, isSecretPath, writeProtection } from '../../src/policy/protected-names.ts';
import { BY_RISK, decide } from '../../src/policy/policy.ts';
import { isRule, readRule } from '../../src/policy/policy-rule.ts';
import { matchHiddenNames, secretDocuments } from '../../src/sandbox/mounts/hidden-names.ts';
import type { Access } from '../../src/policy/access.ts';
import { scratch } from '../skills/registry/support.ts';

const origin = { layer: 'built-in', where: '' } as const;
const everything = [readRule('*', { effect: 'allow', origin })].filter(isRule);
const policy = { layers: [{ origin, rules: [...builtInRules(), ...everything], otherwise: BY_RISK }], grants: [] };

function effectOf(tool: string, path: string): string {
  const access: Access = { tool, subject: { kind: 'path', path, absolute: `/home/ann/project/${path}` } };
  return decide(policy, [access]).effect;
}

const ASKED =
  `.cursorrules .cursor/rules/a.mdc .devcontainer/devcontainer.json .devcontainer.json .gitlab-ci.yml .circleci/config.yml
  CLAUDE.local.md CLAUDE.md GEMINI.md AGENTS.md opencode.json .mcp.json .vscode/tasks.json .idea/workspace.xml .husky/pre-commit .ssh/authorized_keys
  .bashrc .zshrc .profile .gitconfig .npmrc .pre-commit-config.yaml .windsurfrules .github/workflows/ci.yml lefthook.yml .envrc Jenkinsfile
  azure-pipelines.yml .clinerules .roo/rules.md sitecustomize.py .config/fish/config.fish .gitmodules .claude/settings.json
  HEAD fixtures/repo.git/config`.split(/\s+/);

describe('files that other tools run or obey', () => {
  test.each(ASKED)('%s is asked about by file tools, for results and in mounts', (name) => {
    for (const path of [name, `packages/app/${name}`, name.toUpperCase()]) {
      expect([effectOf('write_file', path), effectOf('delete_file', path), writeProtection(path)]).toEqual([
        'ask',
        'ask',
        'ask',
      ]);
    }
  });

  test.each([
    ['another case', '.Git/hooks/pre-commit'],
    ['a zero-width character', '.g\u200Cit/hooks/pre-commit'],
    ['wide letters', '.\uFF47it/config'],
    ['the long s', '.hg/\u017F'],
    ['a trailing dot', '.git./config'],
    ['a trailing space', '.agent /config.json'],
    ['the Kelvin sign', '.agent/\u212Aeys.json'],
  ])('a name in another spelling is the same name: %s', (_, path) => {
    expect([effectOf('write_file', path), writeProtection(path)]).toEqual(['deny', 'never']);
  });

  test('a file in work/ of the workspace instructs no tool of the user, but the data of git is never written', () => {
    const names = ['SKILL.md', 'backend/skills/pdf/SKILL.md', '.vscode/tasks.json', '.git/hooks/pre-commit'];
    const places = ['workspace://work/', 'workspace://skills/x/', ''];
    expect(places.map((place) => names.map((name) => effectOf('write_file', `${place}${name}`)))).toEqual([
      ['allow', 'allow', 'allow', 'deny'],
      ['ask', 'ask', 'ask', 'deny'],
      ['ask', 'ask', 'ask', 'deny'],
    ]);
  });

  test('a deny rule of the user matches names in other spellings too', () => {
    const deny = [readRule('Read(Stra\u00DFe/**)', { effect: 'deny', origin })].filter(isRule);
    const strict = { layers: [{ origin, rules: [...deny, ...everything], otherwise: BY_RISK }], grants: [] };
    const read = (path: string): string =>
      decide(strict, [{ tool: 'read_file', subject: { kind: 'path', path } }]).effect;
    expect([read('stra\u00DFe/a'), read('STRA\u00DFE/a'), read('other/a')]).toEqual(['deny', 'deny', 'allow']);
  });

  test.each([
    'src/cursorrules.ts',
    'docs/agents.md.txt',
    'my.github/x',
    'package.json',
    'Makefile',
    'profile',
    'a.bashrc',
  ])('%s is an ordinary file', (path) => {
    expect([effectOf('write_file', path), writeProtection(path), isSecretPath(path)]).toEqual(['allow', 'free', false]);
  });
});

describe('records, answers and trust', () => {
  const RECORDS =
    `.agent/runs/1/events.jsonl .agent/runs .agent/evals/last/report.json .agent/approvals.json .agent/trust.json
    .agent/seal.key .agent/keys.json .agent/pending/1.json sub/project/.agent/runs/1/run.json .AGENT/RUNS/1/run.json`.split(
      /\s+/,
    );

  test.each(RECORDS)('%s is read by no tool of a model, in no mount and in no copied folder', (path) => {
    const tools = ['read_file', 'grep', 'list_dir', 'host_input', 'write_file', 'delete_file'];
    expect(tools.map((tool) => effectOf(tool, path))).toEqual(tools.map(() => 'deny'));
    expect([isSecretPath(path), isSecretPath(path, '/home/ann/project')]).toEqual([true, true]);
  });

  test('a whole .agent folder is no input, and contributes nothing to a folder that a person names', () => {
    expect([effectOf('host_input', '.agent'), effectOf('list_dir', '.agent')]).toEqual(['deny', 'allow']);
    expect(isSecretPath('runs/1/events.jsonl', '/home/ann/project/.agent')).toBe(true);
    expect(isSecretPath('config', '/home/ann/.ssh')).toBe(false);
  });
});

describe('secrets', () => {
  test.each(
    `.env app/.env.production .env.local.bak .env~ .#.env #.env# .env-staging prod.env .ENV .Env.Local .envrc .dev.vars certs/server.PEM a/b/tls.key
    application_default_credentials.json kaggle.json .nuget/NuGet/NuGet.Config secring.gpg sops/age/keys.txt .config/github-copilot/hosts.json
    .server.pem.swp .server.pem.un~ .envs/.local/.postgres .Renviron wp-config.php AuthKey_1.p8 vpn.ovpn .ssh/id_ed25519 id_rsa id_rsa.old .npmrc .pypirc .netrc _netrc .kube/config kubeconfig kubeconfig.yaml
    infra/terraform.tfstate terraform.tfstate.backup terraform.tfstate.d/dev/terraform.tfstate prod.tfvars credentials.json client_secret_1.json
    service-account-prod.json serviceAccountKey.json app-firebase-adminsdk-x.json .aws/credentials .config/gcloud/a/b .cargo/credentials.toml
    .vault_pass.txt secrets.toml config/secrets.yml secrets.yaml wallet.dat local.settings.json auth.json .pgpass .bash_history .claude/.credentials.json`.split(
      /\s+/,
    ),
  )('%s is asked about before a model reads it, and hidden in mounts', (path) => {
    expect([
      effectOf('read_file', path),
      effectOf('grep', path),
      effectOf('host_input', path),
      isSecretPath(path),
    ]).toEqual(['ask', 'ask', 'ask', true]);
  });

  test.each(
    `.env.example app/.env.sample .env.template example.env .env.example.env sample.env prod.tfvars.example environment.ts env.ts src/keys.ts
    NuGet.Config keys.txt hosts.json monkey.ts key.json package.json tokens.json docs/credentials.md kubeconfig-guide/index.md public.crt secrets.baseline .gitignore history.md`.split(
      /\s+/,
    ),
  )('%s is an ordinary file', (path) => {
    expect([effectOf('read_file', path), effectOf('host_input', path), isSecretPath(path)]).toEqual([
      'allow',
      'allow',
      false,
    ]);
  });

  test('git gets its own settings', () => {
    expect(isSecretPath('.git/config')).toBe(false);
  });

  test('executors that match names themselves hide the same files', () => {
    const isHidden = matchHiddenNames(hiddenNames());
    const paths =
      `.env .env.example a/.ENV server.pem .git/x.key .agent/runs/1 .config/gcloud/a .cargo/credentials main.ts .env.d/x`.split(
        ' ',
      );
    for (const folder of ['/home/ann/project', '/home/ann/.cargo', '/home/ann/.config', '/home/ann/.aws'])
      expect(
        [...paths, 'credentials', 'gcloud', 'gcloud/a', 'credentials.example'].map((path) => isHidden(path, folder)),
      ).toEqual(
        [...paths, 'credentials', 'gcloud', 'gcloud/a', 'credentials.example'].map((path) =>
          isSecretPath(path, folder),
        ),
      );
    expect([isSecretPath('credentials', '/a/.cargo'), isSecretPath('gcloud/a', '/a/.config')]).toEqual([true, true]);
    expect([writeProtection('config', '/a/.cargo'), writeProtection('x', '/a/.claude')]).toEqual(['ask', 'free']);
  });

  test.each([
    ['a service account', '{"private_key": "x",\n "type": "service_account"}', true],
    ['a stored login', '{"type": "authorized_user", "refresh_token": "x"}', true],
    ['an account without a key', '{"type": "service_account"}', false],
    ['other settings', '{"type": "module", "private_key": "x"}', false],
  ])('%s is recognised by its content', (_, text, isSecret) => {
    const file = path.join(scratch(), 'any-name.JSON');
    writeFileSync(file, text);
    const isDocument = secretDocuments(hiddenNames());
    expect([isDocument(file), isDocument(path.dirname(file)), isDocument(`${file}.json`)]).toEqual([
      isSecret,
      false,
      false,
    ]);
  });
});
