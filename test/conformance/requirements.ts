/**
 * What Skillwright promises, by id. `claimed` means: it is built, and at least one test says `verifies(id, ...)`. The page
 * docs/conformance.md is generated from this list and from those tests.
 */
export interface Requirement {
  readonly behaviour: string;
  readonly claimed: boolean;
}

const claimed = (behaviour: string): Requirement => ({ behaviour, claimed: true });
const planned = (behaviour: string): Requirement => ({ behaviour, claimed: false });

export const REQUIREMENTS = {
  'FMT-1': claimed(
    'A skill is a folder with a SKILL.md: YAML frontmatter and a Markdown body; other files are optional; a lone skill.md loads with a warning.',
  ),
  'FMT-2': claimed('Rules for name, description, compatibility, license, metadata and allowed-tools.'),
  'FMT-3': claimed(
    'Extension fields at the top level and under metadata: version, author, disable-model-invocation, user-invocable, run-mode, requires, paths.',
  ),
  'FMT-4': claimed('allowed-tools as a list, or as text split on commas or white space, with patterns.'),
  'FMT-5': claimed(
    'One parser, two modes: strict refuses any breach, lenient repairs with diagnostics; a restriction that cannot be read never widens rights.',
  ),
  'FMT-6': claimed(
    'Bounds on frontmatter; aliases, tags, merge keys, duplicate keys and unsafe keys are refused; angle brackets are judged by mode and escaped everywhere.',
  ),
  'FMT-7': claimed('Invisible and direction characters are reported and removed; BOM and CRLF load.'),
  'FMT-8': claimed('Bodies are limited to 500 lines and 40,000 characters, with advice to split.'),
  'REG-1': claimed(
    'Roots with source, path and priority: project and its ancestors, home, built-in, configuration, SKILLS_ROOT, DOCUMENT_ROOT, options.',
  ),
  'REG-2': claimed('An index is built from roots and refreshed incrementally.'),
  'REG-3': claimed('Only frontmatter is read: no body of a skill that was not selected.'),
  'REG-4': claimed('An entry has id, name, description, source, path, controls, meta and digest.'),
  'REG-5': claimed(
    'Hidden folders, node_modules and folders without SKILL.md are passed over; nested groups are found; depth, count and link cycles are bounded.',
  ),
  'REG-6': claimed(
    'Same name: the higher root wins, then the later modification; the others are reported and stay addressable.',
  ),
  'REG-7': claimed(
    'A report of roots, time, counts, reasons, conflicts and the index hash; --explain shows each folder.',
  ),
  'REG-8': claimed('One run keeps one snapshot; a watch swaps whole skills.'),
  'REG-9': claimed('A missing root is an empty root.'),
  'REG-10': claimed('Names match without regard to case.'),
  'REG-11': claimed('Visibility of a skill is set without editing it.'),
  'SRCH-1': claimed('Ranked search over names and descriptions, English and Chinese at least.'),
  'SRCH-2': claimed('Search needs no network and no model and is ready with the registry.'),
  'DISC-1': claimed(
    'The catalog keeps a token budget; each visible skill is in one reported state; the order is stable; the text says what is not shown.',
  ),
  'DISC-2': planned('Level 2: the body of a selected skill.'),
  'DISC-3': planned('Level 3: one named file, whole or by section.'),
  'DISC-4': planned('Every load returns a report.'),
  'DISC-5': planned('A ledger of every skill byte shown to the model.'),
  'DISC-6': planned('Session state with lifetimes.'),
  'DISC-7': planned('Placement of loaded content.'),
  'DISC-8': planned('Compaction keeps what is active.'),
  'DISC-9': planned('Confined paths, checked on the opened file.'),
  'CLI-1': claimed(
    'Commands with --json, documented exit status, errors on stderr, colours and progress on a terminal only.',
  ),
  'CLI-2': claimed('inspect prints no body unless asked; new scaffolds a skill that passes check.'),
  'CFG-1': claimed('.agent/config.json of user and project merge; a JSON Schema is published; unknown keys are named.'),
} as const satisfies Record<string, Requirement>;

export type RequirementId = keyof typeof REQUIREMENTS;
