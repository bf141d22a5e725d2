import { VOCABULARY_NAMES, type Config, type Profile, type Vocabulary, type VocabularyName } from '#core';

/** As large as the settings can be: the system shows every body whole. */
const WHOLE_BODIES = { max_skill_body_lines: 10_000_000, max_skill_body_characters: 10_000_000 } as const;

/** What was loaded stays in the conversation, and no skill that was requested is forgotten. */
const KEPT_BODIES = { lifetime: 'session', max_loaded: 1_000 } as const;
/** The prompt has every skill. */
const EVERY_SKILL = { budget_tokens: 1_000_000 } as const;

/** The system reads the folders in one folder, returns files whole, and its shell runs beside the files of the project. */
const ONE_ROOT_AND_WHOLE_FILES = {
  builtin: false,
  use_default_roots: false,
  scan: { max_depth: 1 },
  sandbox: { project: 'read' },
  security: { ...WHOLE_BODIES, max_resource_characters: 10_000_000 },
  session: KEPT_BODIES,
} as const;

/** The system has no limit of its own; an answer has at most as many calls. */
const ALL_LOADS = 16;

/** The system loads every skill into the conversation, and only when its model asks for it. */
const UNKNOWN_FIELDS = ['run-mode', 'paths'] as const;

/** YAML that a parser of YAML refuses, what the frontmatter must have, and another spelling of SKILL.md. */
const UNUSABLE = [
  'frontmatter/invalid-yaml',
  'frontmatter/unquoted-colon',
  'frontmatter/unquoted',
  'frontmatter/unclosed-quote',
  'frontmatter/tab',
  'name/missing',
  'description/missing',
  'file/case',
] as const;

/** What each vocabulary sets beside its tools; `src/core/profile.ts` says how to add to it. Apart from the tools, which commands such as `list` do not load. */
export const PROFILES = {
  skillwright: {},
  openseed: {
    settings: { ...ONE_ROOT_AND_WHOLE_FILES, catalog: EVERY_SKILL },
    loadsPerTurn: ALL_LOADS,
    unusable: UNUSABLE,
    unlisted: ['name/missing', 'description/missing'],
    loadsWholeFile: true,
    rootIsNoSkill: true,
    sameNames: 'folder',
    ignoredFields: UNKNOWN_FIELDS,
    oneRoot: 'document-root',
    projectFolders: ['skills'],
    installFolder: { project: 'skills' },
  },
  trpc: {
    settings: {
      builtin: false,
      use_default_roots: false,
      catalog: { ...EVERY_SKILL, format: 'list' },
      session: { max_loaded: KEPT_BODIES.max_loaded },
      security: WHOLE_BODIES,
    },
    agentPlacement: 'system',
    unusable: ['file/case'],
    loadsPerTurn: ALL_LOADS,
    offersPrograms: true,
    ignoredFields: UNKNOWN_FIELDS,
    oneRoot: 'project',
    projectFolders: ['skills'],
    installFolder: { project: 'skills' },
  },
  manusx: {
    settings: { ...ONE_ROOT_AND_WHOLE_FILES, catalog: { ...EVERY_SKILL, format: 'expertise' } },
    loadsPerTurn: ALL_LOADS,
    // Its pattern starts at the first character, and both lines are three hyphens.
    unusable: [...UNUSABLE, 'frontmatter/fence', 'frontmatter/bom'],
    rootIsNoSkill: true,
    sameNames: 'first-path',
    ignoredFields: UNKNOWN_FIELDS,
    oneRoot: 'project',
    projectFolders: ['backend/skills'],
    installFolder: { project: 'backend/skills' },
  },
  'skills-agent': {
    settings: {
      format: { mode: 'strict' },
      security: { oversized_body: 'refuse', block_angle_brackets_in_frontmatter: true },
      // A skill is a direct folder of a root.
      scan: { max_depth: 1 },
      use_default_roots: false,
      catalog: { ...EVERY_SKILL, format: 'lines' },
      session: KEPT_BODIES,
    },
    // Its strict mode refuses a frontmatter that cannot be parsed, lacks a field, is nested or too long; it has no rules for names.
    tolerates: [
      'name/directory-mismatch',
      'name/invalid',
      'name/too-long',
      'description/too-long',
      'compatibility/too-long',
      'field/unknown',
      'field/other-agent',
      'field/extension',
      'allowed-tools/list',
      // Strict mode leaves the skill out all the same; lenient mode keeps it with an empty text.
      'description/missing',
      'file/unusable',
      'frontmatter/bom',
      'text/control-characters',
      'text/hidden-characters',
      'body/hidden-characters',
    ],
    rootIsNoSkill: true,
    writesAreHighRisk: true,
    protocol: 'actions',
    projectFolders: ['.agent/skills'],
    installFolder: { project: '.agent/skills', user: '.agent/skills' },
  },
} as const satisfies Readonly<Record<VocabularyName, Profile>>;

/** The profile of a vocabulary by name (default: `skillwright`). A custom vocabulary carries its own. */
export function findProfile(name: string | undefined): Profile {
  const known = VOCABULARY_NAMES.find((one) => one === name);
  return known === undefined ? PROFILES.skillwright : PROFILES[known];
}

/** The profile of the vocabulary of a session; that of the configuration is already narrowed. */
export function chooseProfile(
  vocabulary: string | Vocabulary | undefined,
  configured: { readonly config: Pick<Config, 'vocabulary'>; readonly profile: Profile },
): Profile {
  if (vocabulary === undefined || vocabulary === configured.config.vocabulary) return configured.profile;
  return typeof vocabulary === 'string' ? findProfile(vocabulary) : (vocabulary.profile ?? {});
}
