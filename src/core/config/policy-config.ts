import { EFFECTS, type Effect, type Risk } from '../access.ts';
import { choice, list, section, text } from '../json/schema-of.ts';

/** How the `allowed-tools` of a skill are used: as a restriction, as pre-approval, both, or not at all. */
export const ALLOWED_TOOLS_USES = ['restrict', 'grant', 'both', 'ignore'] as const;
type AllowedToolsUse = (typeof ALLOWED_TOOLS_USES)[number];

/** Whether a program that reaches nothing outside its sandbox needs approval; strictest first. */
const SANDBOXED_USES = ['ask', 'allow'] as const;

const rule = text('A tool such as run_script, or a tool with a pattern such as Bash(git status:*).');

/** Keys that a policy may have in every file. */
const COMMON = {
  default: section('Effect for actions that no rule matches, by risk.', {
    low: choice('Actions that only read.', EFFECTS, 'allow'),
    medium: choice('Actions with reversible effects.', EFFECTS, 'ask'),
    high: choice('Actions with irreversible effects, or that reach the network.', EFFECTS, 'ask'),
  }),
  allow: list('Allowed without approval.', rule, 1_000),
  ask: list('Requires approval.', rule, 1_000),
  deny: list('Always denied; overrides ask and allow.', rule, 1_000),
  include: list(
    'Files with rules: each contains one object with default, allow, ask, deny and include.',
    text('A file, relative to the file that includes it; ~ is the home folder.'),
    64,
  ),
};

/** The `policy` section of the configuration. */
export const POLICY_SCHEMA = section("What actions may do. A project's rules can only restrict the user's rules.", {
  ...COMMON,
  allowed_tools: choice(
    'How the allowed-tools of a skill are used; a project file can only set restrict.',
    ALLOWED_TOOLS_USES,
    'restrict',
  ),
  sandboxed: choice(
    'Whether programs that are fully contained (an isolating sandbox, no network, no secrets, no write access to host folders) need approval; a project file can only set ask.',
    SANDBOXED_USES,
    'ask',
  ),
});

/** The schema of a file that a policy includes. */
export const POLICY_FILE_SCHEMA = section('Rules that a policy includes.', {
  $schema: text('URL of a schema, for editors.'),
  ...COMMON,
});

interface WrittenRule {
  readonly rule: string;
  /** The file, variable or option that contains the rule. */
  readonly where: string;
}

/** The policy of one layer, including the files it includes. */
export interface PolicyConfig {
  readonly default: Readonly<Partial<Record<Risk, Effect>>>;
  readonly allow: readonly WrittenRule[];
  readonly ask: readonly WrittenRule[];
  readonly deny: readonly WrittenRule[];
  readonly allowedTools: AllowedToolsUse | undefined;
}
