import { CATALOG_FORMATS } from '../catalog-layout.ts';
import type { FromSchema, ObjectSchema } from '../json/json-schema.ts';
import { ARCHIVE_LIMITS } from '../archive-limits.ts';
import { POLICY_SCHEMA } from './policy-config.ts';
import { LIFETIMES } from '../session.ts';
import { VISIBILITIES } from '../skill.ts';
import { PLACEMENTS } from '../tool.ts';
import { SECRET_SOURCES } from './secret-config.ts';
import { EXECUTION_SCHEMA } from './execution-config.ts';
import { MCP_SERVERS_SCHEMA } from './mcp-config.ts';
import { PACKAGES_SCHEMA } from './packages-config.ts';

/** Stricter first. */
export const FORMAT_MODES = ['strict', 'lenient'] as const;
const OVERSIZED_BODY = ['cut', 'refuse'] as const;
const TRUST_BINDINGS = ['path', 'digest'] as const;
/** Stricter first. */
export const PROJECT_ACCESSES = ['none', 'read', 'write'] as const;
export const INSTALL_SCOPES = ['project', 'user'] as const;
export type InstallScope = (typeof INSTALL_SCOPES)[number];
/** Stricter first. */
export const RUN_SYNCS = ['each', 'none'] as const;

const path = {
  type: 'string',
  description: 'A folder; relative to the project (project file) or the home folder (user file); ~ is the home folder.',
} as const;

/** The schema of `.agent/config.json`. */
export const CONFIG_SCHEMA = {
  type: 'object',
  description:
    'Configuration of skillwright: .agent/config.json in the home folder and in a project. A project file may tighten safety settings and never loosen them.',
  additionalProperties: false,
  properties: {
    $schema: { type: 'string', description: 'URL of this schema, for editors.' },
    skill_roots: {
      type: 'array',
      description: 'Additional folders to scan for skills, highest priority first.',
      items: {
        description: 'A folder, or a folder with a source name.',
        anyOf: [
          path,
          {
            type: 'object',
            description: 'A folder with a source name.',
            additionalProperties: false,
            required: ['path'],
            properties: { path, source: { type: 'string', description: 'Source name of its skills.' } },
          },
        ],
      },
    },
    builtin: { type: 'boolean', description: 'Use the built-in skills.', default: true },
    use_default_roots: { type: 'boolean', description: 'Also scan .agent, .agents and .claude.', default: true },
    skill_visibility: {
      type: 'object',
      description:
        'How much of a skill a model sees. Keys: name, source/name, or a pattern with *; an exact key beats a pattern.',
      additionalProperties: { type: 'string', description: 'Visibility of the skill.', enum: VISIBILITIES },
    },
    scan: {
      type: 'object',
      description: 'Limits of the scan for skills.',
      additionalProperties: false,
      properties: {
        max_depth: { type: 'integer', description: 'Maximum depth below a root.', minimum: 1, maximum: 32, default: 6 },
        max_directories: {
          type: 'integer',
          description: 'Maximum number of group folders visited in a root.',
          minimum: 1,
          maximum: 1_000_000,
          default: 20_000,
        },
        nested_in_skills: { type: 'boolean', description: 'Also scan for skills inside skills.', default: false },
      },
    },
    format: {
      type: 'object',
      description: 'How the format of skills is validated.',
      additionalProperties: false,
      properties: {
        mode: {
          type: 'string',
          description:
            'lenient loads and installs what can be understood and reports violations of the specification; strict leaves such skills out.',
          enum: FORMAT_MODES,
          default: 'lenient',
        },
      },
    },
    catalog: {
      type: 'object',
      description: 'The list of skills that a model sees at the start.',
      additionalProperties: false,
      properties: {
        budget_tokens: {
          type: 'integer',
          description: 'Maximum estimated tokens of the catalog.',
          minimum: 50,
          maximum: 1_000_000,
          default: 4_000,
        },
        format: { type: 'string', description: 'Format of the catalog.', enum: CATALOG_FORMATS, default: 'xml' },
      },
    },
    session: {
      type: 'object',
      description: 'How long loaded skills are kept, and where.',
      additionalProperties: false,
      properties: {
        lifetime: {
          type: 'string',
          description: "Keep loaded skills until the user's next turn, for one request, or for the whole session.",
          enum: LIFETIMES,
          default: 'turn',
        },
        max_loaded: {
          type: 'integer',
          description: 'Maximum number of loaded skills; the least recently used one is unloaded.',
          minimum: 1,
          maximum: 1_000,
          default: 8,
        },
        placement: {
          type: 'string',
          description:
            'Where instructions are placed: in tool results, which keeps prompts cacheable, or in the system message.',
          enum: PLACEMENTS,
          default: 'tool-results',
        },
      },
    },
    cache: {
      type: 'object',
      description: 'The index that is cached between runs; safe to delete at any time.',
      additionalProperties: false,
      properties: { enabled: { type: 'boolean', description: 'Cache the index.', default: true } },
    },
    model: {
      type: 'object',
      description: 'The model of the agent.',
      additionalProperties: false,
      properties: {
        provider: { type: 'string', description: 'Name of the provider, or mock.' },
        params: {
          type: 'object',
          description: 'Parameters that are passed to the provider.',
          additionalProperties: true,
        },
      },
    },
    execution: EXECUTION_SCHEMA,
    sandbox: {
      type: 'object',
      description: 'What programs see of your files.',
      additionalProperties: false,
      properties: {
        project: {
          type: 'string',
          description:
            'How programs see the project: none, read or write (default: read in run and chat, none in exec); a project file can only reduce it.',
          enum: PROJECT_ACCESSES,
        },
      },
    },
    packages: PACKAGES_SCHEMA,
    security: {
      type: 'object',
      description: 'Limits for skills.',
      additionalProperties: false,
      properties: {
        max_skill_body_lines: {
          type: 'integer',
          description: 'Maximum lines of a skill body.',
          minimum: 1,
          maximum: 100_000,
          default: 500,
        },
        max_skill_body_characters: {
          type: 'integer',
          description: 'Maximum characters of a skill body.',
          minimum: 1,
          maximum: 10_000_000,
          default: 40_000,
        },
        max_resource_characters: {
          type: 'integer',
          description: 'Maximum characters of a skill file in one answer; the rest is read with an offset.',
          minimum: 1_000,
          maximum: 10_000_000,
          default: 12_000,
        },
        oversized_body: {
          type: 'string',
          description: 'What to do with a body over these limits: truncate it, or refuse it.',
          enum: OVERSIZED_BODY,
          default: 'cut',
        },
        block_angle_brackets_in_frontmatter: {
          type: 'boolean',
          description:
            'Exclude skills with < or > anywhere in the frontmatter, instead of escaping them with a warning (strict mode: true).',
          default: false,
        },
      },
    },
    install: {
      type: 'object',
      description: 'What may be installed, and from where.',
      additionalProperties: false,
      properties: {
        scope: {
          type: 'string',
          description: 'Default target of install: .agents/skills of the project, or of the home folder.',
          enum: INSTALL_SCOPES,
          default: 'project',
        },
        require_signed: {
          type: 'boolean',
          description: 'Install only packs that are signed with a pinned key.',
          default: false,
        },
        scan_policy: {
          type: 'string',
          description: 'A JSON file that defines which scan findings block an install; only in the user file.',
        },
        scan_allow: {
          type: 'object',
          description:
            'Skills that may be installed although the scan blocks them, by name; each only with the files of one digest; only in the user file.',
          additionalProperties: {
            type: 'string',
            description: 'Digest of the reviewed skill, sha256-tree:... as install prints it.',
          },
        },
        allow_http: {
          type: 'boolean',
          description: 'Allow sources over unencrypted HTTP; only in the user file.',
          default: false,
        },
        allow_private_addresses: {
          type: 'boolean',
          description: 'Allow sources at private network addresses; only in the user file.',
          default: false,
        },
        archive: {
          type: 'object',
          description: 'Limits for archives and folders.',
          additionalProperties: false,
          properties: {
            max_archive_bytes: {
              type: 'integer',
              description: 'Maximum size of the archive file.',
              minimum: 1,
              maximum: 2_147_483_648,
              default: ARCHIVE_LIMITS.maxArchiveBytes,
            },
            max_entries: {
              type: 'integer',
              description: 'Maximum number of files and folders.',
              minimum: 1,
              maximum: 1_000_000,
              default: ARCHIVE_LIMITS.maxEntries,
            },
            max_bytes: {
              type: 'integer',
              description: 'Maximum total size, unpacked.',
              minimum: 1,
              maximum: 17_179_869_184,
              default: ARCHIVE_LIMITS.maxBytes,
            },
            max_file_bytes: {
              type: 'integer',
              description: 'Maximum size of one file, unpacked.',
              minimum: 1,
              maximum: 2_147_483_648,
              default: ARCHIVE_LIMITS.maxFileBytes,
            },
            max_ratio: {
              type: 'integer',
              description: 'Maximum ratio of unpacked to packed size.',
              minimum: 1,
              maximum: 1_032,
              default: ARCHIVE_LIMITS.maxRatio,
            },
            max_depth: {
              type: 'integer',
              description: 'Maximum nesting depth of folders.',
              minimum: 1,
              maximum: 64,
              default: ARCHIVE_LIMITS.maxDepth,
            },
          },
        },
      },
    },
    policy: POLICY_SCHEMA,
    trust: {
      type: 'object',
      description: 'How trust in skills works; only in the user file.',
      additionalProperties: false,
      properties: {
        bind: {
          type: 'string',
          description:
            'Whether trusted skills stay trusted only while their files are unchanged (digest), or also after changes (path).',
          enum: TRUST_BINDINGS,
          default: 'digest',
        },
      },
    },
    secrets: {
      type: 'object',
      description: 'Secrets for scripts, by skill (name or source/name) and variable; only in the user file.',
      additionalProperties: {
        type: 'object',
        description: 'Source of each variable of this skill.',
        additionalProperties: {
          description: 'Source of the value.',
          anyOf: SECRET_SOURCES,
        },
      },
    },
    mcp_servers: MCP_SERVERS_SCHEMA,
    runs: {
      type: 'object',
      description: 'Records of runs.',
      additionalProperties: false,
      properties: {
        enabled: { type: 'boolean', description: 'Record runs; a project file cannot turn this off.', default: true },
        directory: {
          type: 'string',
          description:
            'Folder of the records; relative to the project (project file, never outside of it) or the home folder (user file). Default: .agent/runs of the project.',
        },
        sync: {
          type: 'string',
          description: 'When events are synced to disk: each one, or only at the end.',
          enum: RUN_SYNCS,
          default: 'none',
        },
      },
    },
    telemetry: {
      type: 'object',
      description: 'Export of spans by OTLP over HTTP; only in the user file.',
      additionalProperties: false,
      properties: {
        endpoint: {
          type: 'string',
          description: 'An http or https URL; nothing is sent if it is empty.',
          default: '',
        },
        headers: {
          type: 'object',
          description: 'Request headers, such as an API key of the receiver.',
          additionalProperties: { type: 'string', description: 'Value of the header.' },
        },
      },
    },
  },
} as const satisfies ObjectSchema;

/** The published JSON Schema. */
export const CONFIG_JSON_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'skillwright configuration',
  ...CONFIG_SCHEMA,
} as const;

export type Config = FromSchema<typeof CONFIG_SCHEMA>;
