import { CATALOG_FORMATS } from '../catalog-layout.ts';
import { EXECUTOR_NAMES } from '../execution.ts';
import type { FromSchema, ObjectSchema } from '../json/json-schema.ts';
import { ARCHIVE_LIMITS } from '../archive-limits.ts';
import { POLICY_SCHEMA } from './policy-config.ts';
import { LIFETIMES } from '../session.ts';
import { VISIBILITIES } from '../skill.ts';
import { PLACEMENTS } from '../tool.ts';

const OVERSIZED_BODY = ['cut', 'refuse'] as const;
const EXECUTOR_CHOICES = ['auto', ...EXECUTOR_NAMES] as const;
const TRUST_BINDINGS = ['path', 'digest'] as const;
export const INSTALL_SCOPES = ['project', 'user'] as const;
export type InstallScope = (typeof INSTALL_SCOPES)[number];
/** Stricter first. */
export const RUN_SYNCS = ['each', 'none'] as const;

const path = {
  type: 'string',
  description: 'A folder; relative to the project (project file) or the home folder (user file); ~ is the home folder.',
} as const;

/** A secret has exactly one source, so each variant requires its single key. */
const SECRET_SOURCES = [
  {
    type: 'object',
    description: 'A variable of the environment.',
    additionalProperties: false,
    required: ['env'],
    properties: { env: { type: 'string', description: 'Its name.' } },
  },
  {
    type: 'object',
    description: 'A file that only you can read.',
    additionalProperties: false,
    required: ['file'],
    properties: { file: { type: 'string', description: 'Its path; ~ is the home folder.' } },
  },
  {
    type: 'object',
    description: 'A program that prints the value.',
    additionalProperties: false,
    required: ['command'],
    properties: {
      command: {
        type: 'array',
        description: 'The program and its arguments.',
        maxItems: 100,
        items: { type: 'string', description: 'A word; no shell reads it.' },
      },
    },
  },
] as const;

/** The schema of `.agent/config.json`. */
export const CONFIG_SCHEMA = {
  type: 'object',
  description:
    'Configuration of skillwright: .agent/config.json in the home folder and in a project, whose file may tighten safety and never loosen it.',
  additionalProperties: false,
  properties: {
    $schema: { type: 'string', description: 'Where an editor finds this schema.' },
    skill_roots: {
      type: 'array',
      description: 'More folders to look for skills in, the most important first.',
      items: {
        description: 'A folder, or a folder with a name for its source.',
        anyOf: [
          path,
          {
            type: 'object',
            description: 'A folder with a name for its source.',
            additionalProperties: false,
            required: ['path'],
            properties: { path, source: { type: 'string', description: 'What `source` says for its skills.' } },
          },
        ],
      },
    },
    use_default_roots: { type: 'boolean', description: 'Look in .agent, .agents and .claude as well.', default: true },
    skill_visibility: {
      type: 'object',
      description:
        'How much of a skill a model sees. Keys: name, source/name, or a pattern with *; an exact key beats a pattern.',
      additionalProperties: { type: 'string', description: 'The state.', enum: VISIBILITIES },
    },
    scan: {
      type: 'object',
      description: 'Bounds of the search for skills.',
      additionalProperties: false,
      properties: {
        max_depth: { type: 'integer', description: 'Folders below a root.', minimum: 1, maximum: 32, default: 6 },
        max_directories: {
          type: 'integer',
          description: 'Group folders visited in a root.',
          minimum: 1,
          maximum: 1_000_000,
          default: 20_000,
        },
        nested_in_skills: { type: 'boolean', description: 'Look for skills inside skills as well.', default: false },
      },
    },
    catalog: {
      type: 'object',
      description: 'What a model sees of all skills at the start.',
      additionalProperties: false,
      properties: {
        budget_tokens: {
          type: 'integer',
          description: 'Estimated tokens the catalog may cost.',
          minimum: 50,
          maximum: 1_000_000,
          default: 4_000,
        },
        format: { type: 'string', description: 'How it is written.', enum: CATALOG_FORMATS, default: 'xml' },
      },
    },
    session: {
      type: 'object',
      description: 'How loaded skills are kept.',
      additionalProperties: false,
      properties: {
        lifetime: {
          type: 'string',
          description: "Until the person's next turn, for one request, or to the end.",
          enum: LIFETIMES,
          default: 'turn',
        },
        max_loaded: {
          type: 'integer',
          description: 'Skills loaded at one time; the one used longest ago makes room.',
          minimum: 1,
          maximum: 1_000,
          default: 8,
        },
        placement: {
          type: 'string',
          description:
            'Where instructions go: into the results of tools, which keeps prompts cacheable, or the system message.',
          enum: PLACEMENTS,
          default: 'tool-results',
        },
      },
    },
    cache: {
      type: 'object',
      description: 'The index kept between runs; safe to delete at any time.',
      additionalProperties: false,
      properties: { enabled: { type: 'boolean', description: 'Keep one.', default: true } },
    },
    model: {
      type: 'object',
      description: 'The model an agent uses.',
      additionalProperties: false,
      properties: {
        provider: { type: 'string', description: 'Its provider, or mock.' },
        params: { type: 'object', description: 'Handed to the provider.', additionalProperties: true },
      },
    },
    execution: {
      type: 'object',
      description: 'How scripts and tools run.',
      additionalProperties: false,
      properties: {
        executor: {
          type: 'string',
          description:
            'What runs programs: auto takes the first that isolates; local isolates nothing and counts only in the user file.',
          enum: EXECUTOR_CHOICES,
          default: 'auto',
        },
        image: { type: 'string', description: 'The image of the container executor.' },
        network: {
          type: 'array',
          description: 'Hosts that programs may reach; a project can only take some away.',
          maxItems: 1_000,
          items: {
            type: 'string',
            description: 'example.org, *.example.org, example.org:8443, private://db.intranet:5432.',
          },
        },
        require_approval_for: {
          type: 'array',
          description: 'Tools that a person is asked about first.',
          items: { type: 'string', description: 'A tool, such as write_file or run_script.' },
        },
      },
    },
    security: {
      type: 'object',
      description: 'Limits on what skills may hold.',
      additionalProperties: false,
      properties: {
        max_skill_body_lines: {
          type: 'integer',
          description: 'Lines of a body.',
          minimum: 1,
          maximum: 100_000,
          default: 500,
        },
        max_skill_body_characters: {
          type: 'integer',
          description: 'Characters of a body.',
          minimum: 1,
          maximum: 10_000_000,
          default: 40_000,
        },
        oversized_body: {
          type: 'string',
          description: 'What becomes of a body over these limits: shown up to there, or refused.',
          enum: OVERSIZED_BODY,
          default: 'cut',
        },
        block_angle_brackets_in_frontmatter: {
          type: 'boolean',
          description: 'Leave out skills with < or > in name or description, instead of escaping them with a warning.',
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
          description:
            'Where install puts skills unless it is told: .agents/skills of the project, or of the home folder.',
          enum: INSTALL_SCOPES,
          default: 'project',
        },
        require_signed: {
          type: 'boolean',
          description: 'Install only what is signed with a key that you pinned.',
          default: false,
        },
        scan_policy: {
          type: 'string',
          description: 'A JSON file that says which findings of the scan stop an install; only in the user file.',
        },
        allow_http: {
          type: 'boolean',
          description: 'Take sources from addresses without encryption; only in the user file.',
          default: false,
        },
        allow_private_addresses: {
          type: 'boolean',
          description: 'Take sources from addresses that are not on the internet; only in the user file.',
          default: false,
        },
        archive: {
          type: 'object',
          description: 'What an archive or a folder may hold.',
          additionalProperties: false,
          properties: {
            max_archive_bytes: {
              type: 'integer',
              description: 'Of the archive itself.',
              minimum: 1,
              maximum: 2_147_483_648,
              default: ARCHIVE_LIMITS.maxArchiveBytes,
            },
            max_entries: {
              type: 'integer',
              description: 'Files and folders.',
              minimum: 1,
              maximum: 1_000_000,
              default: ARCHIVE_LIMITS.maxEntries,
            },
            max_bytes: {
              type: 'integer',
              description: 'Of all files together, unpacked.',
              minimum: 1,
              maximum: 17_179_869_184,
              default: ARCHIVE_LIMITS.maxBytes,
            },
            max_file_bytes: {
              type: 'integer',
              description: 'Of one file, unpacked.',
              minimum: 1,
              maximum: 2_147_483_648,
              default: ARCHIVE_LIMITS.maxFileBytes,
            },
            max_ratio: {
              type: 'integer',
              description: 'How many times its packed size it may unpack to.',
              minimum: 1,
              maximum: 1_032,
              default: ARCHIVE_LIMITS.maxRatio,
            },
            max_depth: {
              type: 'integer',
              description: 'Folders inside folders.',
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
      description: 'What it means to trust a skill; only in the user file.',
      additionalProperties: false,
      properties: {
        bind: {
          type: 'string',
          description: 'A trusted folder stays so whatever is in it, or only as long as no byte of it changes.',
          enum: TRUST_BINDINGS,
          default: 'path',
        },
      },
    },
    secrets: {
      type: 'object',
      description: 'Secrets for scripts, by skill (name or source/name) and variable; only in the user file.',
      additionalProperties: {
        type: 'object',
        description: 'Where each variable of this skill comes from.',
        additionalProperties: {
          description: 'One place that the value comes from.',
          anyOf: SECRET_SOURCES,
        },
      },
    },
    runs: {
      type: 'object',
      description: 'The record of what was done.',
      additionalProperties: false,
      properties: {
        enabled: { type: 'boolean', description: 'Keep one; a project cannot turn it off.', default: true },
        directory: {
          type: 'string',
          description:
            'Where; relative to the project (project file, and never outside it) or the home folder (user file); .agent/runs of the project where nothing is said.',
        },
        sync: {
          type: 'string',
          description: 'When lines are forced to the disk: each one, or none before the end.',
          enum: RUN_SYNCS,
          default: 'none',
        },
      },
    },
    telemetry: {
      type: 'object',
      description: 'Where spans are sent, by OTLP over HTTP; only in the user file.',
      additionalProperties: false,
      properties: {
        endpoint: {
          type: 'string',
          description: 'An http or https address; nothing is sent where it is empty.',
          default: '',
        },
        headers: {
          type: 'object',
          description: 'Sent along, such as a key of the receiver.',
          additionalProperties: { type: 'string', description: 'The value of the header.' },
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
