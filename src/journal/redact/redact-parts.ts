import { redactionProblem } from './redact-problem.ts';

const MIN_LINE = 8;
const MAX_DEPTH = 8;
/** Names of JSON members with secret values; other members are addresses and names. */
const SECRET_MEMBER = /key|token|secret|passw|passphrase|credential/i;

/**
 * Returns the parts of a value that are secrets on their own, because programs split values: lines, the password of a URL, keys in a
 * JSON file.
 */
export function splitSecret(value: string): readonly string[] {
  const inner = [...urlPasswords(value), ...jsonMembers(value)].filter((part) => redactionProblem(part) === undefined);
  return [...new Set([...inner, ...[value, ...inner].flatMap(splitLines)])];
}

/** The lines of a multi-line key. The first and last line of a PEM file are not secret. */
function splitLines(value: string): readonly string[] {
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  return lines.length === 1 ? [] : lines.filter((line) => isWorthALine(line) && !/^-{5}[A-Z0-9 ]+-{5}$/.test(line));
}

/** Long and random enough to be searched on its own. */
export function isWorthALine(line: string): boolean {
  return line.length >= MIN_LINE && redactionProblem(line) === undefined;
}

/** As written, and decoded. */
function urlPasswords(value: string): readonly string[] {
  const [, password] = /^[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:([^\s/]+)@/i.exec(value.trim()) ?? [];
  if (password === undefined) return [];
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

function jsonMembers(value: string): readonly string[] {
  if (!/^\s*[{[]/.test(value)) return [];
  try {
    return stringsIn(JSON.parse(value), false, 0);
  } catch {
    return [];
  }
}

function stringsIn(value: unknown, isSecret: boolean, depth: number): readonly string[] {
  if (typeof value === 'string') return isSecret ? [value] : [];
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    stringsIn(member, isSecret || SECRET_MEMBER.test(name), depth + 1),
  );
}
