import { diagnose, isObject, positionOf, quoted, readJsonText, type Diagnostic, type checkConfig } from '#core';
import { isPresent } from './paths.ts';
import { readTextFile } from './read-file.ts';

type JsonText = ReturnType<typeof readJsonText>;

type Finding = Omit<Parameters<typeof diagnose>[0], 'path'>;

type CheckedJson =
  | {
      readonly type: 'read';
      readonly value: Readonly<Record<string, unknown>>;
      readonly text: JsonText;
    }
  | { readonly type: 'absent' }
  | { readonly type: 'invalid'; readonly diagnostics: readonly Diagnostic[] };

const MAX_BYTES = 1024 * 1024;
const MAX_DEPTH = 64;

/**
 * Reads a file with one JSON object and validates it with `check`. A file with any problem is rejected as a whole: half a configuration
 * is not what the user wrote, and a misspelled key may be the one that denies something.
 */
export function readCheckedJson(
  path: string,
  check: (value: Readonly<Record<string, unknown>>) => ReturnType<typeof checkConfig>,
): CheckedJson {
  const invalid = (...findings: readonly Finding[]): CheckedJson => ({
    type: 'invalid',
    diagnostics: findings.map((finding) => diagnose({ path, ...finding }, 'lenient')),
  });
  const broken = (message: string, at?: ReturnType<typeof positionOf>): CheckedJson =>
    invalid({ code: 'config/invalid', ...at, message });

  const file = readTextFile(path, MAX_BYTES);
  // A broken link is an error: the user meant to have a file here.
  if (file.type === 'absent') return isPresent(path) ? broken('it is a link that points at nothing') : file;
  if (file.type === 'failed') return broken(`it cannot be read: ${file.reason}`);
  if (!file.validUtf8) return broken('it is not UTF-8');
  const source = file.text.startsWith('\uFEFF') ? file.text.slice(1) : file.text;
  const parsed = parseJson(source);
  if (parsed.type === 'failed') return broken(`it is not JSON: ${parsed.reason}`, positionOf(source, parsed.offset));
  if (!isObject(parsed.value)) return broken('it must hold one JSON object');

  const text = readJsonText(source);
  if (text.depth > MAX_DEPTH) return broken(`it is nested deeper than ${String(MAX_DEPTH)} levels`);
  const [twice] = text.repeated;
  if (twice !== undefined) return broken(`${quoted(twice.join('.'), 120)} appears twice`, text.locate(twice));

  const problems = check(parsed.value);
  if (problems.length === 0) return { type: 'read', value: parsed.value, text };
  return invalid(...problems.map((problem) => toFinding(problem, text)));
}

function toFinding({ type, path, message, hint }: ReturnType<typeof checkConfig>[number], text: JsonText): Finding {
  const code = type === 'unknown-key' ? 'config/unknown-key' : 'config/invalid';
  return { code, ...text.locate(path), message, hint };
}

type ParsedJson =
  | { readonly type: 'parsed'; readonly value: unknown }
  | { readonly type: 'failed'; readonly reason: string; readonly offset: number };

function parseJson(text: string): ParsedJson {
  try {
    return { type: 'parsed', value: JSON.parse(text) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const offset = Number(/position (\d+)/.exec(error.message)?.[1] ?? 0);
    // V8 quotes the file in its message: only the part before the quote is shown, because the content is untrusted.
    const reason = error.message.replace(/[,.]? ?(?:"|\.\.\.)[\s\S]*$/, '').replace(/ in JSON at position[\s\S]*$/, '');
    return { type: 'failed', reason, offset };
  }
}
