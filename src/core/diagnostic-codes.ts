/** All diagnostic codes; `docs/diagnostics.md` is generated from this list. Codes never change their meaning. */

export type Severity = 'error' | 'warning' | 'info';

export interface DiagnosticRule {
  readonly strict: Severity;
  readonly lenient: Severity;
  /** In lenient mode, a skill with this problem is left out of the index. */
  readonly excludes: boolean;
  /** Describes the problem, for the documentation. */
  readonly about: string;
  /** Default hint, used if the reporting code has nothing more specific. */
  readonly hint: string;
}

/** A violation that excludes the skill in both modes. */
const fatal = (about: string, hint: string): DiagnosticRule => ({
  strict: 'error',
  lenient: 'error',
  excludes: true,
  about,
  hint,
});
/** An error in the configuration; it excludes no skill. */
const failing = (about: string, hint: string): DiagnosticRule => ({
  strict: 'error',
  lenient: 'error',
  excludes: false,
  about,
  hint,
});
/** A violation of the specification that a loader can tolerate. */
const breach = (about: string, hint: string): DiagnosticRule => ({
  strict: 'error',
  lenient: 'warning',
  excludes: false,
  about,
  hint,
});
/** A violation that is too common to warn about while loading. */
const quietBreach = (about: string, hint: string): DiagnosticRule => ({
  strict: 'error',
  lenient: 'info',
  excludes: false,
  about,
  hint,
});
/** Not a violation, but rarely intended. */
const advice = (about: string, hint: string): DiagnosticRule => ({
  strict: 'warning',
  lenient: 'warning',
  excludes: false,
  about,
  hint,
});
/** Fine for loading, worth fixing before publishing. */
const polish = (about: string, hint: string): DiagnosticRule => ({
  strict: 'warning',
  lenient: 'info',
  excludes: false,
  about,
  hint,
});
/** Informational. */
const remark = (about: string, hint: string): DiagnosticRule => ({
  strict: 'info',
  lenient: 'info',
  excludes: false,
  about,
  hint,
});

export const DIAGNOSTIC_RULES = {
  'file/missing': fatal('the folder has no SKILL.md', 'add a SKILL.md, or name the folder that holds it'),
  'file/case': breach('the file is called skill.md', 'rename it to SKILL.md'),
  'file/not-regular': fatal(
    'SKILL.md is a directory, a pipe, a socket or a device',
    'replace it with a plain text file',
  ),
  'file/unreadable': fatal('the file may not be read', 'give yourself read permission'),
  'file/vanished': fatal('the file was there and then was not', 'run the command again'),
  'file/not-utf8': breach('the frontmatter has bytes that are not UTF-8', 'save the file as UTF-8'),
  'file/name-not-utf8': fatal("the folder's name has bytes that are not UTF-8", 'rename the folder'),
  'file/link-escapes': fatal('SKILL.md is a link to a file outside its skill', 'put the file itself into the skill'),
  'file/broken-link': fatal('a link that points at nothing', 'mend the link or remove it'),

  'frontmatter/missing': fatal(
    'the file does not start with a --- line',
    'start the file with a --- line, name: and description:, and another --- line',
  ),
  'frontmatter/unterminated': fatal('the closing --- line is missing', 'put a line with only --- after the last field'),
  'frontmatter/empty': fatal('nothing stands between the --- lines', 'add name: and description:'),
  'frontmatter/not-fields': fatal(
    'what stands between the --- lines is no list of fields',
    'write name: and description:, each at the start of a line',
  ),
  'frontmatter/too-large': fatal('more than 64 KiB of frontmatter', 'move text into the body or into references/'),
  'frontmatter/too-many-lines': quietBreach(
    'more than 200 lines of frontmatter',
    'move text into the body or into references/',
  ),
  'frontmatter/line-too-long': quietBreach(
    'a line of more than 500 characters',
    'break the text with a folded block: description: >-',
  ),
  'frontmatter/invalid-yaml': breach(
    'the YAML cannot be parsed; fields were read line by line',
    'put values with special characters in double quotes',
  ),
  'frontmatter/unquoted-colon': breach('a value with ": " in it is not in quotes', 'put the value in double quotes'),
  'frontmatter/unquoted': breach(
    'a value that YAML reads as something other than text is not in quotes',
    'put the value in double quotes',
  ),
  'frontmatter/unclosed-quote': breach(
    'a quoted value has no closing quote',
    'close the quote at the end of the value',
  ),
  'frontmatter/tab': breach('a tab is used for indentation', 'indent with spaces'),
  'frontmatter/bom': breach('the file starts with a byte order mark', 'save as UTF-8 without BOM'),
  'frontmatter/crlf': advice('lines end with CR LF', 'save with LF line ends'),
  'frontmatter/fence': breach(
    'the --- line has something before or after it',
    'write --- alone on its line, from the first column',
  ),
  'frontmatter/multi-document': breach(
    'there is more than one YAML document',
    'keep one document between two --- lines',
  ),
  'frontmatter/duplicate-key': breach('a key is given twice; the first one is used', 'remove one of them'),
  'frontmatter/alias': fatal('YAML anchors, aliases and merge keys are refused', 'write the value out'),
  'frontmatter/tag': fatal('YAML tags are refused', 'write a plain value'),
  'frontmatter/unsafe-key': breach(
    'a key that reaches into JavaScript objects; it is ignored',
    'remove or rename the key',
  ),
  'frontmatter/too-deep': breach(
    'nested deeper than 16 levels; fields were read line by line',
    'keep to text, lists of text and one map of text',
  ),

  // Most public skills have such a field, so it is only informational when loading.
  'field/unknown': quietBreach('a field that the specification does not name', 'move it under metadata:, or remove it'),
  'field/extension': polish(
    'a field of ours at the top level, where other validators refuse it',
    'move it under metadata: to please every validator',
  ),
  'field/type': breach('a field has a value of the wrong kind', 'see the fields in docs/skill-format.md'),
  'field/unreadable-restriction': breach(
    'a field that restricts the skill cannot be read; the strictest meaning is used',
    'mend the field, or remove it to lift the restriction on purpose',
  ),

  'name/missing': breach("there is no name; the folder's name is used", "add name: with the folder's name"),
  'name/invalid': breach(
    'the name breaks the rules for names',
    'use 1 to 64 lower-case letters, digits and single hyphens',
  ),
  'name/unusable': fatal(
    'neither the file nor the folder gives a name that can be used',
    'rename the folder: lower-case letters, digits and single hyphens',
  ),
  'name/too-long': breach('the name has more than 64 characters', 'shorten it'),
  'name/directory-mismatch': breach("the name differs from the folder's name", 'rename the folder or the skill'),
  'description/missing': fatal(
    'there is no description',
    'add description: with what the skill does and when to use it',
  ),
  'description/too-long': breach(
    'the description has more than 1,024 characters',
    'keep what and when; move the rest into the body',
  ),
  'compatibility/too-long': breach('compatibility has more than 500 characters', 'shorten it'),
  'metadata/not-text': breach('a metadata value is not text; it is kept as JSON text', 'put the value in quotes'),
  'metadata/unquoted': polish(
    'a metadata value that other readers take for a number or a boolean',
    'put the value in quotes',
  ),
  'allowed-tools/separator': polish('commas between the entries of allowed-tools', 'separate the entries with spaces'),
  'allowed-tools/invalid': breach(
    'an entry of allowed-tools is no tool pattern',
    'write entries such as Read or Bash(git:*)',
  ),

  'text/angle-brackets': breach('< or > in name or description', 'write the words without angle brackets'),
  'text/control-characters': breach('control characters (terminal escapes, NUL) in the frontmatter', 'remove them'),
  'text/hidden-characters': breach('invisible or text-direction characters in the frontmatter', 'remove them'),

  'body/empty': advice('the skill has no instructions', 'say in the body what to do'),
  'body/too-long': advice(
    'the body is over 500 lines or 40,000 characters',
    'move parts into references/ and point to them',
  ),
  'body/hidden-characters': breach('invisible or text-direction characters in the body', 'remove them'),
  'body/missing-file': advice('the body points at a file that is not in the skill', 'mend the path or add the file'),
  'script/not-executable': advice('a script with a shebang has no exec bit', 'chmod +x'),

  'catalog/confusable': advice(
    'two skills answer to the same words: a model may take one for the other',
    'say in each what only it is for',
  ),

  'link/outside-root': remark(
    'a skill folder is a link to a place outside its root',
    'nothing to do if you put the link there',
  ),
  'link/cycle': advice('a link leads back to a folder above it; it is not followed', 'remove the link'),
  'scan/too-deep': advice('folders nested deeper than the scan goes', 'move the skills up, or raise scan.max_depth'),
  'scan/too-many-directories': advice(
    'more folders than the scan visits',
    'give a narrower root, or raise scan.max_directories',
  ),

  'root/not-a-directory': advice('a root is not a directory', 'name a folder that holds skill folders'),
  'root/missing': advice('a root that was asked for does not exist', 'create it or remove it from the roots'),
  'root/unreadable': advice('a root may not be read', 'give yourself read permission'),
  'root/interrupted': advice(
    'a change of a root was interrupted, and could not be finished or undone',
    'run the same command again; skillwright verify tells what differs from the lock',
  ),
  'root/not-supported': advice('a root that is an archive or an address', 'unpack it and name the folder'),

  'config/invalid': failing(
    'a configuration file cannot be used',
    'mend the file; skillwright config --schema prints what it may hold',
  ),
  'config/unknown-key': failing(
    'a configuration key that means nothing; the file is not used',
    'remove it or mend its spelling',
  ),
  'config/environment': failing(
    'a SKILLWRIGHT_ variable that is no setting or has a wrong value; it is not used',
    'mend the variable or remove it',
  ),
  'config/not-for-project': failing(
    "a project's file says what only the user may say; it has no effect",
    'move it to .agent/config.json of your home folder',
  ),
  'config/wider': advice(
    "a project's file asks for more than the user's allows; it has no effect",
    'ask for less, or let the user allow more in the file of the home folder',
  ),
  'config/unknown-skill': advice(
    'the configuration names a skill that was not found',
    'mend the name or remove the entry',
  ),
  'policy/include': failing(
    'a file of rules that a policy includes cannot be used',
    'mend the path or the file; until then only reading is allowed',
  ),
  'policy/contradiction': advice(
    'the same rule stands in two lists of a policy; the strictest counts',
    'keep one of them',
  ),
} as const satisfies Record<string, DiagnosticRule>;

export type DiagnosticCode = keyof typeof DIAGNOSTIC_RULES;
