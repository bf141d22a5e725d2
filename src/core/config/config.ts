import { CATALOG_FORMATS } from '../catalog-layout.ts';
import type { FromSchema } from '../json/json-schema.ts';
import { POLICY_SCHEMA } from './policy-config.ts';
import { LIFETIMES, PLACEMENTS } from '../session.ts';
import { VISIBILITIES } from '../skill.ts';
import { VOCABULARY_NAMES } from '../vocabulary-names.ts';
import { choice, count, flag, list, map, section, text } from '../json/schema-of.ts';
import { EXECUTOR_NAMES } from '../execution.ts';
import { EVALS_SCHEMA } from './eval-config.ts';

/** Stricter first. */
const FORMAT_MODES = ['strict', 'lenient'] as const;
const OVERSIZED_BODY = ['cut', 'refuse'] as const;
const TRUST_BINDINGS = ['path', 'digest'] as const;
/** Stricter first. */
const PROJECT_ACCESSES = ['none', 'read', 'write'] as const;
const INSTALL_SCOPES = ['project', 'user'] as const;
/** Stricter first. */
const RUN_SYNCS = ['each', 'none'] as const;

/** The defaults of `install.archive`. */
export const ARCHIVE_LIMITS = {
  maxArchiveBytes: 256 * 1024 * 1024,
  maxEntries: 20_000,
  maxBytes: 512 * 1024 * 1024,
  maxFileBytes: 128 * 1024 * 1024,
  maxRatio: 200,
  maxDepth: 32,
  maxNameBytes: 1024,
};

const path = text(
  'A folder; relative to the project (project file) or the home folder (user file); ~ is the home folder.',
);

const EXECUTOR_CHOICES = ['auto', ...EXECUTOR_NAMES] as const;

/** The key `execution` of `.agent/config.json`. */
const EXECUTION_SCHEMA = section('How scripts and commands are run.', {
  executor: choice(
    'The executor for programs: auto uses the first that isolates; local does not isolate and is allowed only in the user file.',
    EXECUTOR_CHOICES,
    'auto',
  ),
  allow_weaker: flag(
    'Let auto use landlock, which is weaker, where nothing else isolates. Only the user file may set it.',
  ),
  image: text('Image of the container executor. Only the user file may set it.'),
  runtime: text(
    'OCI runtime of the container executor, such as runsc (gVisor), as the engine names it. Only the user file may set it.',
  ),
  network: list(
    'Hosts that programs may reach; a project file can only remove some.',
    text('example.org, *.example.org, example.org:8443, private://db.intranet:5432.'),
    1_000,
  ),
  require_approval_for: list('Tools that always require approval.', text('A tool, such as write_file or run_script.')),
});

/** A secret has exactly one source, so each variant requires its single key. */
const SECRET_SOURCES = [
  section('An environment variable.', { env: text('Name of the variable.') }, ['env']),
  section('A file that only you can read.', { file: text('Path of the file; ~ is the home folder.') }, ['file']),
  section(
    'A program that prints the value.',
    { command: list('The program and its arguments.', text('A word, passed on without a shell.'), 100) },
    ['command'],
  ),
] as const;

const VALUE = {
  description: 'A source, or a text that is not secret.',
  anyOf: [...SECRET_SOURCES, text('The value itself; the file shows it.')],
} as const;

/** One entry of `mcp_servers` in `.agent/config.json`. */
const MCP_SERVER_SCHEMA = section('One server: a program that is started, or an address.', {
  command: text('Program of a local server, such as npx.'),
  args: list('Arguments of the program.', text('A word, passed on without a shell.'), 200),
  env: map('Environment variables of the program, which inherits no others but PATH, HOME and the locale.', VALUE),
  url: text('Address of a server that speaks streamable HTTP: https, or http on this machine.'),
  headers: map('Headers of each request.', VALUE),
  bearer: { description: 'Source of the token that each request carries.', anyOf: SECRET_SOURCES },
  tools: list(
    'Names of the tools to offer, * for any characters. Default: all.',
    text('A name as the server writes it, such as issues_*.'),
    500,
  ),
  skills: flag('Use the skills that the server offers; each needs trust.', true),
  enabled: flag('Use the server.', true),
  connect_timeout_seconds: count('How long connecting may take.', 1, 600, 20),
  timeout_seconds: count('How long a call may take.', 1, 3_600, 60),
});

/** The key `mcp_servers`. */
const MCP_SERVERS_SCHEMA = map(
  'MCP servers whose tools and skills the agent may use, by name; only in the user file.',
  MCP_SERVER_SCHEMA,
);

/** The `packages` section of the configuration. */
const PACKAGES_SCHEMA = section(
  'Packages for scripts. Indexes come from your pip and npm configuration and never from a project.',
  {
    environments: map(
      'Lists of packages by name, for --environment and packages.skills.',
      list('The packages.', text('pypdf, pandas>=2, npm:docx@9.'), 200),
    ),
    skills: map('The environment of each skill, by name or source/name.', text('Name of an environment.')),
    offline: flag('Use only packages that are installed already; a project file cannot turn this off.'),
    hosts: list(
      'Hosts besides the index that installations may reach; only in the user file.',
      text('files.example.org, private://files.intranet:8080.'),
      100,
    ),
  },
);

/** The schema of `.agent/config.json`. */
export const CONFIG_SCHEMA = section(
  'Configuration of skillwright: .agent/config.json in the home folder and in a project. A project file may tighten safety settings and never loosen them.',
  {
    $schema: text('URL of this schema, for editors.'),
    vocabulary: choice(
      'The agent system whose tools, names, defaults and folders apply.',
      VOCABULARY_NAMES,
      'skillwright',
    ),
    skill_roots: list('Additional folders to scan for skills, highest priority first.', {
      description: 'A folder, or a folder with a source name.',
      anyOf: [
        path,
        {
          type: 'object',
          description: 'A folder with a source name.',
          additionalProperties: false,
          required: ['path'],
          properties: {
            path,
            source: text('Source name of its skills; in a project file project, or a name that starts with project-.'),
          },
        },
      ],
    } as const),
    builtin: flag('Use the built-in skills.', true),
    use_default_roots: flag('Also scan .agent, .agents and .claude.', true),
    skill_visibility: map(
      'How much of a skill a model sees. Keys: name, source/name, or a pattern with *; an exact key beats a pattern.',
      choice('Visibility of the skill.', VISIBILITIES),
    ),
    scan: section('Limits of the scan for skills.', {
      max_depth: count('Maximum depth below a root.', 1, 32, 16),
      max_directories: count('Maximum number of group folders visited in a root.', 1, 1_000_000, 20_000),
      nested_in_skills: flag('Also scan for skills inside skills.'),
    }),
    format: section('How the format of skills is validated.', {
      mode: choice(
        'lenient loads and installs what can be understood and reports violations of the specification; strict leaves such skills out.',
        FORMAT_MODES,
        'lenient',
      ),
    }),
    catalog: section('The list of skills that a model sees at the start.', {
      budget_tokens: count('Maximum estimated tokens of the catalog.', 50, 1_000_000, 4_000),
      format: choice('Format of the catalog.', CATALOG_FORMATS, 'xml'),
    }),
    session: section('How long loaded skills are kept, and where.', {
      lifetime: choice(
        "Keep loaded skills until the user's next turn, for one request, or for the whole session.",
        LIFETIMES,
        'turn',
      ),
      max_loaded: count('Maximum number of loaded skills; the least recently used one is unloaded.', 1, 1_000, 8),
      placement: choice(
        'Where instructions are placed: in tool results, which keeps prompts cacheable, or in the system message.',
        PLACEMENTS,
        'tool-results',
      ),
    }),
    cache: section('The index that is cached between runs; safe to delete at any time.', {
      enabled: flag('Cache the index.', true),
    }),
    model: section('The model of the agent.', {
      provider: text('Name of the provider, or mock.'),
      params: map('Parameters that are passed to the provider; turns of the mock model only in the user file.', true),
    }),
    execution: EXECUTION_SCHEMA,
    sandbox: section('What programs see of your files.', {
      project: choice(
        'How programs see the project: none, read or write (default: read in run and chat, none in exec); a project file can only reduce it.',
        PROJECT_ACCESSES,
      ),
    }),
    packages: PACKAGES_SCHEMA,
    security: section('Limits for skills.', {
      max_skill_body_lines: count('Maximum lines of a skill body.', 1, 10_000_000, 500),
      max_skill_body_characters: count('Maximum characters of a skill body.', 1, 10_000_000, 40_000),
      max_resource_characters: count(
        'Maximum characters of a skill file in one answer; the rest is read with an offset.',
        1_000,
        10_000_000,
        12_000,
      ),
      max_documents_characters: count(
        'Maximum characters of all documents in one answer of skill_load; the answer lists the rest.',
        1_000,
        10_000_000,
        48_000,
      ),
      oversized_body: choice(
        'What to do with a body over these limits: truncate it, or refuse it.',
        OVERSIZED_BODY,
        'cut',
      ),
      block_angle_brackets_in_frontmatter: flag(
        'Exclude skills with < or > anywhere in the frontmatter, instead of escaping them with a warning (strict mode: true).',
      ),
    }),
    install: section('What may be installed, and from where.', {
      scope: choice(
        'Default target of install: .agents/skills of the project, or of the home folder.',
        INSTALL_SCOPES,
        'project',
      ),
      require_signed: flag('Install only packs that are signed with a pinned key.'),
      scan_policy: text('A JSON file that defines which scan findings block an install; only in the user file.'),
      scan_allow: map(
        'Skills that may be installed although the scan blocks them, by name; each only with the files of one digest; only in the user file.',
        text('Digest of the reviewed skill, sha256-tree:... as install prints it.'),
      ),
      allow_http: flag('Allow sources over unencrypted HTTP; only in the user file.'),
      allow_private_addresses: flag('Allow sources at private network addresses; only in the user file.'),
      archive: section('Limits for archives and folders.', {
        max_archive_bytes: count('Maximum size of the archive file.', 1, 2_147_483_648, ARCHIVE_LIMITS.maxArchiveBytes),
        max_entries: count('Maximum number of files and folders.', 1, 1_000_000, ARCHIVE_LIMITS.maxEntries),
        max_bytes: count('Maximum total size, unpacked.', 1, 17_179_869_184, ARCHIVE_LIMITS.maxBytes),
        max_file_bytes: count('Maximum size of one file, unpacked.', 1, 2_147_483_648, ARCHIVE_LIMITS.maxFileBytes),
        max_ratio: count('Maximum ratio of unpacked to packed size.', 1, 1_032, ARCHIVE_LIMITS.maxRatio),
        max_depth: count('Maximum nesting depth of folders.', 1, 64, ARCHIVE_LIMITS.maxDepth),
      }),
    }),
    policy: POLICY_SCHEMA,
    trust: section('How trust in skills works; only in the user file.', {
      bind: choice(
        'Whether trusted skills stay trusted only while their files are unchanged (digest), or also after changes (path).',
        TRUST_BINDINGS,
        'digest',
      ),
    }),
    secrets: map(
      'Secrets for scripts, by skill (name or source/name) and variable; only in the user file.',
      map('Source of each variable of this skill.', { description: 'Source of the value.', anyOf: SECRET_SOURCES }),
    ),
    mcp_servers: MCP_SERVERS_SCHEMA,
    runs: section('Records of runs.', {
      enabled: flag('Record runs; a project file cannot turn this off.', true),
      directory: text(
        'Folder of the records; relative to the project (project file, an ordinary folder in it) or the home folder (user file). Default: .agent/runs of the project.',
      ),
      sync: choice('When events are synced to disk: each one, or only at the end.', RUN_SYNCS, 'none'),
    }),
    evals: EVALS_SCHEMA,
    telemetry: section('Export of spans by OTLP over HTTP; only in the user file.', {
      endpoint: { ...text('An http or https URL; nothing is sent if it is empty.'), default: '' },
      headers: map('Request headers, such as an API key of the receiver.', text('Value of the header.')),
    }),
  },
);

/** The published JSON Schema. */
export const CONFIG_JSON_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'skillwright configuration',
  ...CONFIG_SCHEMA,
} as const;

export type Config = FromSchema<typeof CONFIG_SCHEMA>;
