import { CATALOG_FORMATS } from './catalog-layout.ts';
import { EXECUTOR_NAMES } from './execution.ts';
import type { FromSchema, ObjectSchema } from './json-schema.ts';
import { LIFETIMES } from './session.ts';
import { VISIBILITIES } from './skill.ts';
import { PLACEMENTS } from './tool.ts';

const OVERSIZED_BODY = ['cut', 'refuse'] as const;
const EXECUTOR_CHOICES = ['auto', ...EXECUTOR_NAMES] as const;

const path = {
  type: 'string',
  description: 'A folder; relative to the project (project file) or the home folder (user file); ~ is the home folder.',
} as const;

/** The configuration file, `.agent/config.json`: what it may hold, and what is published about it. */
export const CONFIG_SCHEMA = {
  type: 'object',
  description:
    'Configuration of skillwright: .agent/config.json in a project and in the home folder; the project file wins.',
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
  },
} as const satisfies ObjectSchema;

/** The schema as it is published. */
export const CONFIG_JSON_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'skillwright configuration',
  ...CONFIG_SCHEMA,
} as const;

export type Config = FromSchema<typeof CONFIG_SCHEMA>;

/**
 * Merges two configurations: objects key by key, roots one after the other, everything else from `over`. A project's file comes
 * with the project, so it may tighten what the user's file says about safety and never loosen it: the smaller limit, the stricter
 * switch and every approval that either asks for.
 */
export function mergeConfig(over: Config, under: Config): Config {
  const merged: Config = { ...under, ...over };
  const joined = (['skill_visibility', 'scan', 'catalog', 'session', 'cache', 'model'] as const).map(
    (key) => [key, { ...under[key], ...over[key] }] as const,
  );
  const roots = [...(over.skill_roots ?? []), ...(under.skill_roots ?? [])];
  const approvals = [over, under].flatMap((config) => config.execution?.require_approval_for ?? []);
  return dropEmpty({
    ...merged,
    ...Object.fromEntries(joined),
    skill_roots: roots,
    execution: dropEmpty({
      ...under.execution,
      ...over.execution,
      executor: executorOf(over, under),
      require_approval_for: [...new Set(approvals)],
    }),
    security: stricter(over.security ?? {}, under.security ?? {}),
  });
}

/** A project may choose what isolates; that nothing isolates is the user's own to say. */
function executorOf(
  { execution: over }: Config,
  { execution: under }: Config,
): NonNullable<Config['execution']>['executor'] {
  return over?.executor === undefined || over.executor === 'local' ? under?.executor : over.executor;
}

type Security = NonNullable<Config['security']>;

function stricter(a: Security, b: Security): Security {
  const least = (key: 'max_skill_body_lines' | 'max_skill_body_characters'): number | undefined => {
    const values = [a[key], b[key]].filter((value) => value !== undefined);
    return values.length === 0 ? undefined : Math.min(...values);
  };
  const oversized = [a, b].map((security) => security.oversized_body).filter((value) => value !== undefined);
  const blocked = [a, b]
    .map((security) => security.block_angle_brackets_in_frontmatter)
    .filter((value) => value !== undefined);
  return dropEmpty({
    max_skill_body_lines: least('max_skill_body_lines'),
    max_skill_body_characters: least('max_skill_body_characters'),
    oversized_body: oversized.length === 0 ? undefined : oversized.includes('refuse') ? 'refuse' : 'cut',
    block_angle_brackets_in_frontmatter: blocked.length === 0 ? undefined : blocked.includes(true),
  });
}

/** Leaves out what says nothing, so that a printed configuration shows what was set. */
function dropEmpty<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> };
function dropEmpty(value: object): object {
  const isEmpty = (item: unknown): boolean =>
    item === undefined || (typeof item === 'object' && item !== null && Object.keys(item).length === 0);
  return Object.fromEntries(Object.entries(value).filter(([, item]) => !isEmpty(item)));
}
