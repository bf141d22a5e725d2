/** Known fields: those of the specification, our extensions, and those that other hosts read. */

const SPECIFIED = ['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools'] as const;
const EXTENSIONS = [
  'version',
  'author',
  'disable-model-invocation',
  'user-invocable',
  'run-mode',
  'requires',
  'paths',
  'dependencies',
] as const;
/** Fields that restrict what a skill may do. An unreadable value gets the strictest meaning. */
const RESTRICTING_FIELDS = [
  'allowed-tools',
  'disallowed-tools',
  'disable-model-invocation',
  'user-invocable',
  'paths',
] as const;

export type RestrictingField = (typeof RESTRICTING_FIELDS)[number];
/** Fields of other hosts that Skillwright supports too. */
const SHARED = ['disallowed-tools', 'context'] as const;
export type FieldName = (typeof SPECIFIED)[number] | (typeof EXTENSIONS)[number] | (typeof SHARED)[number];

const CLAUDE_CODE = [
  'when_to_use',
  'argument-hint',
  'arguments',
  'model',
  'effort',
  'agent',
  'background',
  'hooks',
  'shell',
  'fallback',
  'created_by',
] as const;

const LETTERS = /^[a-z]+$/;
const ASCII = /^[ -~]*$/;
const OTHERS = /[^a-z]+/g;
const BY_NAME: ReadonlyMap<string, FieldName> = new Map(
  [...SPECIFIED, ...EXTENSIONS, ...SHARED].map((field) => [field, field]),
);
const BY_FOLDED_NAME: ReadonlyMap<string, FieldName> = new Map(
  [...BY_NAME.values()].map((field) => [foldKey(field), field]),
);
const EXTENSION_SET: ReadonlySet<string> = new Set(EXTENSIONS);
const RESTRICTING: ReadonlyMap<string, RestrictingField> = new Map(RESTRICTING_FIELDS.map((field) => [field, field]));
const HOSTS: ReadonlyMap<string, string> = new Map<string, string>([
  ...[...CLAUDE_CODE, ...SHARED].map((field) => [foldKey(field), 'Claude Code'] as const),
  ...['homepage', 'emoji', 'user-invocable-only', 'command-dispatch', 'command-tool', 'command-arg-mode'].map(
    (field) => [foldKey(field), 'OpenClaw'] as const,
  ),
  // Text or a list there: packages. A map is the field of ours.
  ['dependencies', 'Claude'],
  ...['globs', 'alwaysApply'].map((field) => [foldKey(field), 'Cursor rules'] as const),
]);

/** Whether the specification has a field of this name. */
export function isSpecified(key: string | undefined): boolean {
  return SPECIFIED.some((field) => field === key);
}

/** The field a key names exactly. */
export function fieldOfKey(key: string): FieldName | undefined {
  return BY_NAME.get(key);
}

/** The field that a key probably means, ignoring case and separators: `Allowed_Tools`, `disableModelInvocation`. */
export function likelyField(key: string): FieldName | undefined {
  return key.length > 40 ? undefined : BY_FOLDED_NAME.get(foldKey(key));
}

/** Our own fields, which the specification puts under `metadata`. */
export function isExtension(field: FieldName): boolean {
  return EXTENSION_SET.has(field);
}

export function restrictingField(field: string): RestrictingField | undefined {
  return RESTRICTING.get(field);
}

/** The host that reads a field which Skillwright ignores. */
export function findHost(key: string): string | undefined {
  return key.length > 40 ? undefined : HOSTS.get(foldKey(key));
}

function foldKey(key: string): string {
  if (LETTERS.test(key)) return key;
  const plain = ASCII.test(key) ? key : key.normalize('NFKC');
  return plain.toLowerCase().replaceAll(OTHERS, '');
}
