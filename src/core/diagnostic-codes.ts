/** All diagnostic codes; `docs/diagnostics.md` is generated from this list. Codes never change their meaning. */
import { docsPage } from './docs-page.ts';

export type Severity = 'error' | 'warning' | 'info';

export interface DiagnosticRule {
  readonly strict: Severity;
  readonly lenient: Severity;
  /** In lenient mode, a skill with this problem is left out of the index. */
  readonly excludes: boolean;
  /** The specification has no such form, but it has its effect here: `check` reports it, strict loading, `install` and `pack` accept it. */
  readonly isUnderstood: boolean;
  /** Describes the problem, for the documentation. */
  readonly about: string;
  /** Default hint, used if the reporting code has nothing more specific. */
  readonly hint: string;
}

type MakeRule = (about: string, hint: string) => DiagnosticRule;

const kind =
  (strict: Severity, lenient: Severity, { excludes = false, isUnderstood = false } = {}): MakeRule =>
  (about, hint) => ({ strict, lenient, excludes, isUnderstood, about, hint });

/** A violation that excludes the skill in both modes. */
const fatal = kind('error', 'error', { excludes: true });
/** An error in the configuration; it excludes no skill. */
const failing = kind('error', 'error');
/** A violation of the specification that a loader can tolerate. */
const breach = kind('error', 'warning');
/** A violation that is too common to warn about while loading. */
const quietBreach = kind('error', 'info');
/** A violation that takes no effect away from the skill. */
const understood = kind('error', 'info', { isUnderstood: true });
/** Not a violation, but rarely intended. */
const advice = kind('warning', 'warning');
/** Fine for loading, worth fixing before publishing. */
const polish = kind('warning', 'info');
/** Informational. */
const remark = kind('info', 'info');

/** Every diagnostic code with its severity, meaning and hint. */
export const DIAGNOSTIC_RULES = {
  'file/missing': fatal('the folder has no SKILL.md', 'add a SKILL.md, or name the folder that contains it'),
  'file/case': breach('the file is named skill.md', 'rename it to SKILL.md'),
  'file/not-regular': fatal(
    'SKILL.md is a directory, a pipe, a socket or a device',
    'replace it with a plain text file',
  ),
  'file/unreadable': fatal('the file cannot be read', 'grant read permission'),
  'file/vanished': fatal('the file disappeared while it was read', 'run the command again'),
  'file/not-utf8': breach('the frontmatter has bytes that are not UTF-8', 'save the file as UTF-8'),
  'file/name-not-utf8': fatal("the folder's name has bytes that are not UTF-8", 'rename the folder'),
  'file/link-escapes': fatal(
    'SKILL.md is a link to a file outside of its skill',
    'replace the link with the file itself',
  ),
  'file/unusable': breach(
    'a file of the skill leads outside the skill, leads nowhere or cannot be read; the rest of the skill works without it',
    'replace it with a regular file inside the skill, or remove it',
  ),
  'file/broken-link': fatal('the link has no target', 'fix the link or remove it'),

  'frontmatter/missing': fatal(
    'the file does not start with a --- line',
    'start the file with a --- line, name: and description:, and another --- line',
  ),
  'frontmatter/unterminated': fatal('the closing --- line is missing', 'put a line with only --- after the last field'),
  'frontmatter/empty': fatal('there is nothing between the --- lines', 'add name: and description:'),
  'frontmatter/not-fields': fatal(
    'the text between the --- lines is not a list of fields',
    'write name: and description:, each at the start of a line',
  ),
  'frontmatter/too-large': fatal(
    'the frontmatter is larger than 64 KiB',
    'move text into the body or into references/',
  ),
  'frontmatter/too-many-lines': quietBreach(
    'the frontmatter has more than 200 lines',
    'move text into the body or into references/',
  ),
  'frontmatter/line-too-long': quietBreach(
    'a line has more than 500 characters and is not part of a valid field of the specification',
    'use a folded block (>-) with shorter lines',
  ),
  'frontmatter/invalid-yaml': breach(
    'the YAML cannot be parsed; fields were read line by line',
    'put values with special characters in double quotes',
  ),
  'frontmatter/unquoted-colon': breach('a value that contains ": " is not quoted', 'put the value in double quotes'),
  'frontmatter/unquoted': breach(
    'a value that YAML does not read as text is not quoted',
    'put the value in double quotes',
  ),
  'frontmatter/unclosed-quote': breach(
    'a quoted value has no closing quote',
    'close the quote at the end of the value',
  ),
  'frontmatter/tab': breach('a tab is used for indentation', 'indent with spaces'),
  'frontmatter/bom': breach('the file starts with a byte order mark', 'save as UTF-8 without BOM'),
  'frontmatter/crlf': advice('lines end with CR LF', 'save with LF line endings'),
  'frontmatter/fence': breach(
    'the --- line contains other characters',
    'write --- alone on its line, in the first column',
  ),
  'frontmatter/fence-spaces': breach('spaces follow a --- line', 'remove them'),
  'frontmatter/multi-document': breach(
    'there is more than one YAML document',
    'keep one document between two --- lines',
  ),
  'frontmatter/duplicate-key': breach('a key is given twice; the first one is used', 'remove one of them'),
  'frontmatter/alias': fatal('YAML anchors, aliases and merge keys are refused', 'write the value out'),
  'frontmatter/tag': fatal(
    'YAML tags other than those of text, numbers, booleans, lists and maps are refused',
    'write a plain value',
  ),
  'frontmatter/unsafe-key': breach(
    'a key that would reach into JavaScript objects is ignored',
    'remove or rename the key',
  ),
  'frontmatter/too-deep': breach(
    'the frontmatter is nested deeper than 16 levels; fields were read line by line',
    'use only text, lists of text and one map of text',
  ),

  'field/unknown': breach(
    'a field is in no specification that is known here',
    'fix its spelling, move it under metadata:, or remove it',
  ),
  // Most public skills have a field of the next two kinds, and it has its effect somewhere, so loading does not warn of it.
  'field/other-agent': quietBreach(
    'a top-level field that another agent defines; the specification has it under metadata',
    'move it under metadata:, or keep it for that agent and check with --lenient',
  ),
  'field/extension': understood(
    'a Skillwright field at the top level; the specification has it under metadata',
    'move it under metadata:',
  ),
  'field/type': breach('a field has a value of the wrong type', `see the fields: ${docsPage('skill-format')}`),
  'field/unreadable-restriction': breach(
    'a field that restricts the skill cannot be read; the strictest meaning is used',
    'fix the field, or remove it to lift the restriction',
  ),

  'name/missing': breach("the name is missing; the folder's name is used", "add name: with the folder's name"),
  'name/invalid': breach(
    'the name violates the naming rules',
    'use 1 to 64 lower-case letters, digits and single hyphens',
  ),
  'name/unusable': fatal(
    'neither the file nor the folder has a usable name',
    'rename the folder: lower-case letters, digits and single hyphens',
  ),
  'name/too-long': breach('the name has more than 64 characters', 'shorten it'),
  'name/directory-mismatch': breach("the name differs from the folder's name", 'rename the folder or the skill'),
  'description/missing': fatal(
    'the description is missing',
    'add description: with what the skill does and when to use it',
  ),
  'description/too-long': breach(
    'the description has more than 1,024 characters',
    'keep what the skill does and when to use it; move the rest into the body',
  ),
  'compatibility/empty': quietBreach('compatibility is empty', 'write the requirements, or remove the field'),
  'compatibility/too-long': breach('compatibility has more than 500 characters', 'shorten it'),
  'metadata/not-text': breach('a metadata value is not text; it is kept as JSON text', 'put the value in quotes'),
  'metadata/unquoted': polish(
    'other readers parse a metadata value as a number or a boolean',
    'put the value in quotes',
  ),
  'allowed-tools/separator': polish('commas separate the entries of allowed-tools', 'separate the entries with spaces'),
  'allowed-tools/list': understood('allowed-tools is a list', 'write the entries as text with spaces between them'),
  'allowed-tools/invalid': breach(
    'an entry of allowed-tools is not a tool pattern',
    'write entries such as Read or Bash(git:*)',
  ),

  'text/angle-brackets': breach('the frontmatter contains < or >', 'remove the angle brackets'),
  'text/control-characters': breach(
    'the frontmatter contains control characters (terminal escapes, NUL)',
    'remove them',
  ),
  'text/hidden-characters': breach('the frontmatter contains invisible or text-direction characters', 'remove them'),

  'body/empty': advice('the skill has no instructions', 'describe in the body what to do'),
  'body/too-long': advice(
    'the body is over 500 lines or 40,000 characters',
    'move parts into references/ and link to them',
  ),
  'body/hidden-characters': breach('the body contains invisible or text-direction characters', 'remove them'),
  'body/missing-file': advice('the body links to a file that is not in the skill', 'fix the path or add the file'),
  'script/not-executable': advice('a script with a shebang is not executable', 'chmod +x'),

  'catalog/confusable': advice(
    'two skills match the same queries, so a model may confuse them',
    'say in each description what only this skill is for',
  ),

  'link/outside-root': remark(
    'a skill folder is a link to a folder outside of its root',
    'nothing to do if you created the link',
  ),
  'link/cycle': advice('a link leads back to a parent folder and is not followed', 'remove the link'),
  'scan/hidden-skills': remark(
    'a hidden folder contains skills and is not searched',
    'install them with skillwright install FOLDER, or search the folder with --root FOLDER',
  ),
  'scan/too-deep': advice(
    'a SKILL.md is nested deeper than the scan goes',
    'move the skills up, or raise scan.max_depth',
  ),
  'plugin/ignored': breach(
    'a field, an MCP server or a folder of an Agent Plugin breaks the specification: it is not used',
    'correct it as the message says',
  ),
  'plugin/rejected': breach(
    'a plugin.json breaks the Agent Plugins specification: nothing of the plugin is used',
    'correct plugin.json as the message says',
  ),
  'scan/too-many-directories': advice(
    'there are more folders than the scan visits',
    'use a narrower root, or raise scan.max_directories',
  ),

  'root/not-a-directory': advice('a root is not a directory', 'name a folder that contains skill folders'),
  'root/missing': advice('a requested root does not exist', 'create it or remove it from the roots'),
  'root/unreadable': advice('a root cannot be read', 'grant read permission'),
  'root/interrupted': advice(
    'a change of a root was interrupted; the message says whether it is completed now',
    'skillwright verify lists the differences from the lock file',
  ),
  'root/not-supported': advice(
    'a root is neither a folder nor an archive that can be fetched',
    'name a folder, or give a zip or tar.gz archive or its https address in SKILLS_ROOT or --root',
  ),

  'config/invalid': failing(
    'a configuration file cannot be used',
    'fix the file; skillwright config --schema prints its schema',
  ),
  'config/unknown-key': failing(
    'a configuration key is unknown; the file is ignored',
    'remove the key or fix its spelling',
  ),
  'config/environment': failing(
    'a SKILLWRIGHT_ variable is not a setting or has an invalid value; it is ignored',
    'fix the variable or remove it',
  ),
  'config/not-for-project': failing(
    'a project file contains a setting that only the user may set; it is ignored',
    'move it to .agent/config.json in your home folder',
  ),
  'config/wider': advice(
    'a project file requests more than the user allows; it has no effect',
    'request less, or allow more in .agent/config.json of your home folder',
  ),
  'config/ignored-file': advice(
    'a config.toml is beside the place of config.json; it is not read',
    'write its settings as JSON into config.json',
  ),
  'config/unknown-skill': advice(
    'the configuration names a skill that was not found',
    'fix the name or remove the entry',
  ),
  'policy/include': failing(
    'a policy includes a file that cannot be used',
    'fix the path or the file; until then only reading is allowed',
  ),
  'policy/contradiction': advice(
    'the same rule is in two lists of a policy; the strictest one applies',
    'keep one of them',
  ),
} as const satisfies Record<string, DiagnosticRule>;

export type DiagnosticCode = keyof typeof DIAGNOSTIC_RULES;
