/** Files and folders with a meaning for other programs. One table for file tools, results of programs and mounted folders. */
import { collisionKey, type Decision, type HiddenNames } from '#core';
import type { PolicyRule } from './policy-rule.ts';

/** `never`: refused whatever the rules say. `ask`: needs approval. */
type Protection = 'never' | 'ask' | 'free';

interface ProtectedNames {
  readonly write: Protection;
  /** For models. */
  readonly read: Protection;
  /** For inputs of programs that a model names (default: as `read`). */
  readonly input?: Protection;
  /** At any depth. `*` matches within a name; `/**` covers the folder and everything in it. */
  readonly names: string;
}

const TABLE: readonly ProtectedNames[] = [
  // The data of git, which runs its hooks and settings.
  { write: 'never', read: 'never', input: 'ask', names: '.git/** .hg/** .svn/** .jj/**' },
  // Records, answers, trust and keys of skillwright: a model could learn or change what it must not.
  {
    write: 'never',
    read: 'never',
    names:
      '.agent/approvals.json .agent/evals/** .agent/keys/** .agent/keys.json .agent/pending/** .agent/runs/** .agent/seal.key .agent/trust.json',
  },
  { write: 'ask', read: 'free', input: 'never', names: '.agent' },
  { write: 'never', read: 'free', names: '.agent/config.json .agent/trash/** .agent/artifacts/** .agent/sources/**' },
  // Instructions and settings of agents.
  {
    write: 'ask',
    read: 'free',
    names: `AGENTS.md AGENTS.override.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md WARP.md SKILL.md copilot-instructions.md
      .cursorrules .windsurfrules .clinerules .clinerules/** .roorules .roomodes .goosehints .aider.conf.yml .augment-guidelines .rules
      .mcp.json mcp.json opencode.json opencode.jsonc crush.json .crush.json .continuerc.json
      .agent/** .agents/** .aider/** .amazonq/** .augment/** .claude/** .claude.json .claude-plugin/** .codex/** .continue/** .copilot/** .cursor/**
      .factory/** .gemini/** .goose/** .junie/** .kilocode/** .kiro/** .opencode/** .openhands/** .qwen/** .roo/** .trae/** .windsurf/** .zed/**`,
  },
  // Settings of editors, which start programs.
  {
    write: 'ask',
    read: 'free',
    names: `.vscode/** .idea/** .fleet/** .devcontainer/** .devcontainer.json *.code-workspace
      .exrc .vimrc .nvimrc .nvim.lua .emacs .emacs.d/** .dir-locals.el`,
  },
  // Continuous integration.
  {
    write: 'ask',
    read: 'free',
    names: `.github/** .gitlab-ci.yml .gitlab/** .circleci/** .buildkite/** .travis.yml .drone.yml .woodpecker.yml .woodpecker/** .gitea/**
      .forgejo/** .cirrus.yml .teamcity/** .appveyor.yml appveyor.yml Jenkinsfile azure-pipelines.yml azure-pipelines.yaml .azure-pipelines/**
      bitbucket-pipelines.yml cloudbuild.yaml cloudbuild.yml buildspec.yml`,
  },
  // Hooks, and settings of git and of package managers. Git takes every folder with a HEAD for a repository and runs what its config names.
  {
    write: 'ask',
    read: 'free',
    names: `.husky/** .githooks/** .pre-commit-config.yaml .pre-commit-hooks.yaml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml
      lefthook-local.yml .lefthook/** .overcommit.yml .lintstagedrc .lintstagedrc.* .gitattributes .gitmodules .gitconfig .config/git/**
      .yarnrc .yarnrc.yml .yarn/** .pnpmfile.cjs .pnpmfile.mjs pip.conf .pip/** .condarc .gemrc .cargo/config .cargo/config.toml
      sitecustomize.py usercustomize.py HEAD *.git/config *.git/hooks/**`,
  },
  // Start-up files of shells and of the desktop.
  {
    write: 'ask',
    read: 'free',
    names: `.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .cshrc .tcshrc .kshrc
      .login .inputrc .xinitrc .xprofile .config/fish/** .config/systemd/** .config/autostart/** Library/LaunchAgents/** .local/bin/**
      .mise.toml mise.toml .tool-versions .curlrc .wgetrc`,
  },
  // Settings that contain secrets, and that tools obey.
  {
    write: 'ask',
    read: 'ask',
    names: `.envrc .npmrc .pypirc .netrc _netrc .git-credentials .m2/settings.xml .terraformrc terraform.rc
      .ssh/** .gnupg/** .aws/** .kube/** .docker/**`,
  },
  // Secrets: environments, keys, state of infrastructure, logins of package managers, clouds, databases and agents, histories.
  {
    write: 'free',
    read: 'ask',
    names: `.env .env.* .env-* .env_* *.env .envs/** .Renviron .dev.vars .dev.vars.* .secrets secrets.json secrets.toml secrets.yml secrets.yaml wallet.dat local.settings.json
      *.key *.pem *.p8 *.p12 *.pfx *.ppk *.jks *.jceks *.bks *.keystore *.kdb *.kdbx *.keytab *.ovpn id_dsa* id_ecdsa* id_ed25519* id_rsa*
      *.tfstate *.tfstate.* *.tfvars *.tfvars.json kubeconfig kubeconfig.* *.kubeconfig .vault_pass* .vault-pass* .vault-token
      credentials.json .credentials.json credentials.csv *accessKeys.csv rootkey.csv client_secret*.json oauth_creds.json token.json token.pickle
      service-account*.json service_account*.json serviceAccount*.json *-service-account.json *-firebase-adminsdk-*.json auth.json
      .azure/** .oci/** .config/gcloud/** .config/gh/** .config/hub .config/doctl/** .password-store/** .terraform.d/** .databrickscfg .snowsql/**
      .pgpass pgpass.conf .my.cnf wp-config.php .mylogin.cnf .htpasswd .s3cfg .passwd-s3fs .boto rclone.conf .dockercfg .dockerconfigjson
      sftp.json sftp-config.json .ftpconfig sitemanager.xml .msmtprc .fetchmailrc .authinfo .*_history
      .cargo/credentials .cargo/credentials.toml .gem/credentials
      application_default_credentials.json kaggle.json NuGet/NuGet.Config secring.gpg age/keys.txt
      github-copilot/hosts.json github-copilot/apps.json`,
  },
];

/**
 * What tools run or obey when a person builds or tests. Programs and models write such files all day, so only results that would replace one
 * are asked about.
 */
const BUILD_FILES =
  `package.json bunfig.toml deno.json deno.jsonc composer.json Makefile GNUmakefile *.mk justfile .justfile Taskfile.yml Taskfile.yaml
  conftest.py pyproject.toml setup.py setup.cfg tox.ini pytest.ini noxfile.py fabfile.py tasks.py dodo.py requirements*.txt environment.yml
  *.config.js *.config.cjs *.config.mjs *.config.ts *.config.cts *.config.mts .*rc.js .*rc.cjs .*rc.mjs .eslintrc .eslintrc.* .babelrc .swcrc .mocharc.*
  karma.conf.* gulpfile.* Gruntfile.* Gemfile Rakefile *.rake *.gemspec Podfile Fastfile Vagrantfile Procfile Brewfile
  build.gradle settings.gradle *.gradle.kts gradle.properties gradlew gradlew.bat gradle/wrapper/** pom.xml mvnw mvnw.cmd .mvn/** build.xml build.sbt
  CMakeLists.txt *.cmake meson.build configure BUILD BUILD.bazel WORKSPACE WORKSPACE.bazel MODULE.bazel .bazelrc Cargo.toml build.rs build.zig mix.exs
  rebar.config Package.swift flake.nix shell.nix default.nix *.csproj *.fsproj *.vbproj *.vcxproj *.props *.targets
  Dockerfile Dockerfile.* *.Dockerfile Containerfile docker-compose*.yml docker-compose*.yaml compose.yml compose.yaml`.split(
    /\s+/,
  );

/** The patterns with a protection, as rules write them. */
function listPatterns(access: 'write' | 'read' | 'input', protection: Protection): readonly string[] {
  const rows = TABLE.filter((row) => (row[access] ?? row.read) === protection);
  return rows.flatMap(({ names }) => names.split(/\s+/));
}

/** An expression for folded paths, and for the path of a folder whose whole content a pattern names. */
function pathExpression(patterns: readonly string[], { before = '', after = '' } = {}): string {
  const names = patterns.filter((pattern) => !pattern.endsWith('/**'));
  const folders = patterns.filter((pattern) => pattern.endsWith('/**')).map((pattern) => pattern.slice(0, -3));
  // What patterns have in common is matched once: the broker matches the path of every file that a program opens.
  const groups = [
    ['[^/]*', names.filter((name) => name.startsWith('*')).map((name) => name.slice(1)), after],
    [before, names.filter((name) => !name.startsWith('*')), after],
    ['', folders, '(?:/.*)?'],
  ] as const;
  return groups
    .filter(([, texts]) => texts.length > 0)
    .map(([start, texts, end]) => `${start}(?:${texts.map(escapePattern).join('|')})${end}`)
    .join('|');
}

function escapePattern(name: string): string {
  return collisionKey(name).replaceAll('.', '\\.').replaceAll('*', '[^/]*');
}

/** What editors and people add to a name for a copy: `.env~`, `.server.pem.swp`, `.server.pem.un~`, `#id_rsa#`, `prod.key.bak`. */
const COPIES = { before: '(?:\\.?#|\\.)?', after: '(?:[~#]|\\.(?:bak|backup|old|orig|save|sw[a-p]|tmp|un~))?' };

/** Patterns that name a folder and an entry of it, which is hidden or protected also where the folder itself was mounted or copied. */
function listPairs(patterns: readonly string[]): readonly string[] {
  return patterns.map((pattern) => pattern.replace(/\/\*\*$/, '')).filter((pattern) => pattern.includes('/'));
}

/** Whether a path, or its start together with the name of the folder that it is relative to, matches. */
type MatchPath = (path: string, folder?: string) => boolean;

function nameMatcher(patterns: readonly string[], added = {}): MatchPath {
  const matches = compileLate(pathExpression(patterns, added));
  const pairs = listPairs(patterns);
  const matchesPair = pairs.length === 0 ? () => false : compileLate(pathExpression(pairs, added));
  return (path, folder = '') =>
    matches(path) ||
    (folder !== '' && matchesPair(`${folder.slice(folder.lastIndexOf('/') + 1)}/${path.split('/', 1)[0] ?? ''}`));
}

/** Compiled on first use, because most patterns are never matched. */
function compileLate(source: string): (path: string) => boolean {
  let expression: RegExp | undefined;
  return (path) => (expression ??= new RegExp(`(?:^|/)(?:${source})$`, 's')).test(collisionKey(path));
}

const NEVER = nameMatcher(listPatterns('write', 'never'));
const ASK = nameMatcher(listPatterns('write', 'ask'));
const SECRET = secretMatcher(listPatterns('read', 'ask'));
const RECORDS = nameMatcher(['.agent/**']);
const GIT = nameMatcher(['.git/**']);
const SAMPLE = '(?:example|sample|template|dist|defaults?|schema)';
/** Committed as examples, without values. */
const EXAMPLES = `\\.${SAMPLE}(?!.)|(?:^|/)(?:\\.env[._-])?${SAMPLE}\\.env(?!.)`;
const EXAMPLE = new RegExp(EXAMPLES, 'is');

function secretMatcher(patterns: readonly string[]): MatchPath {
  const matches = nameMatcher(patterns, COPIES);
  return (path, folder) => matches(path, folder) && (!EXAMPLE.test(path) || GIT(path));
}

/**
 * Whether a file, by an absolute or relative path, is written for a program: never, after approval, or freely. Other tools run or obey the
 * first two kinds, so they also stay read-only in a mounted folder.
 */
export function writeProtection(path: string, folder = ''): Protection {
  return NEVER(path, folder) ? 'never' : ASK(path, folder) ? 'ask' : 'free';
}

const BUILD_FILE = nameMatcher(BUILD_FILES);

const SKILL_FILE = nameMatcher(['skills.lock.json']);
/** Below the folder in which an agent keeps its skills: `.claude/skills`, `.config/opencode/skill`, `.codeium/windsurf/skills`. */
const AGENT_SKILLS = /(?:^|\/)(?:\.[^/]+|\.(?:config|codeium)\/[^/]+)\/skills?\/./s;

/**
 * As `writeProtection`, for a result that leaves the sandbox: `skill` is in a folder of skills of an agent, or the lock file of one; tools run or
 * obey a `build` file when a person builds or tests.
 */
export function resultProtection(path: string): Protection | 'skill' | 'build' {
  if (SKILL_FILE(path) || AGENT_SKILLS.test(collisionKey(path))) return 'skill';
  const protection = writeProtection(path);
  return protection === 'free' && BUILD_FILE(path) ? 'build' : protection;
}

/**
 * Whether programs must not read a file or folder of a mounted or copied folder: secrets, and our records. Git needs all of `.git`. A folder
 * that a person or a rule named may be secret itself, but not a part of our records.
 */
export function isSecretPath(relative: string, folder = ''): boolean {
  return (
    (SECRET(relative, folder) && !GIT(relative)) || RECORDS(`${folder.slice(folder.lastIndexOf('/') + 1)}/${relative}`)
  );
}

/** Keys of service accounts have any name; each cloud's console proposes another. They are small. */
const DOCUMENTS = '\\.json(?!.)';
const ACCOUNT_TYPE = '"type"\\s*:\\s*"(?:service_account|authorized_user|external_account_authorized_user)"';
const ACCOUNT_KEY = '"(?:private_key|refresh_token)"\\s*:';
const SERVICE_ACCOUNT = `${ACCOUNT_TYPE}.*${ACCOUNT_KEY}|${ACCOUNT_KEY}.*${ACCOUNT_TYPE}`;

/** The names of `isSecretPath`, and contents that are secret under any name, for executors that hide files when programs open them. */
export function hiddenNames(): HiddenNames {
  const patterns = listPatterns('read', 'ask');
  return {
    names: pathExpression(patterns, COPIES),
    shown: `${EXAMPLES}|(?:^|/)${pathExpression(['.git/**'])}(?!.)`,
    pairs: pathExpression(listPairs(patterns), COPIES),
    always: pathExpression(['.agent/**']),
    parents: pathExpression([...new Set(patterns.flatMap((pattern) => /^(.+)\/[^/*]/.exec(pattern)?.[1] ?? []))]),
    documents: DOCUMENTS,
    contents: SERVICE_ACCOUNT,
  };
}

const BUILT_IN: Decision['origin'] = { layer: 'built-in', where: '' };

/** Rules that always apply, at any depth. The configuration can only add to them. */
export function builtInRules(): readonly PolicyRule[] {
  return [
    ...rulesFor('deny', ['write_file', 'delete_file'], listPatterns('write', 'never')),
    ...rulesFor('deny', ['read_file', 'grep', 'list_dir'], listPatterns('read', 'never')),
    ...rulesFor('deny', ['host_input'], listPatterns('input', 'never')),
    ...rulesFor('ask', ['write_file', 'delete_file'], listPatterns('write', 'ask')),
    ...rulesFor('ask', ['read_file', 'grep'], listPatterns('read', 'ask')),
    ...rulesFor('ask', ['host_input'], listPatterns('input', 'ask')),
  ];
}

/** One rule per pattern, so that a decision names it. Nearly every path matches none, which one expression for all of them finds out. */
function rulesFor(
  effect: 'deny' | 'ask',
  tools: readonly [string, ...string[]],
  patterns: readonly string[],
): readonly PolicyRule[] {
  const isSecret = effect === 'ask' && !tools.includes('write_file');
  const matcher = isSecret ? secretMatcher : nameMatcher;
  const family = { matches: matcher(patterns) };
  return patterns.map((pattern) => {
    const globs = [{ matches: matcher([pattern]), reaches: () => true, prefix: '' }];
    return {
      effect,
      text: `${tools[0]}(**/${pattern})`,
      origin: BUILT_IN,
      tools,
      subjects: { kind: 'path', globs, anyCase: true },
      family,
    };
  });
}
