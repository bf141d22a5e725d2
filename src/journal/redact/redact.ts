/**
 * Secrets kept out of everything that is shown, recorded or sent to a model. A net for accidents: a program that wants to give a
 * secret away can always write it in a way that nobody foresees, which only the sandbox and the grants of network prevent.
 */

import { SkillError } from '../../core/errors.ts';
import { quoted } from '../../core/text/text.ts';
import { marksBeside } from './redact-mark.ts';
import { redactionProblem } from './redact-problem.ts';
import { isPlainlyFree, literal, patternTable } from './redact-scan.ts';
import type { Pattern, PatternTable } from './redact-scan.ts';
import { shapePatterns } from './redact-shapes.ts';
import { joinedStreams, redactBytes, redactedStream } from './redact-stream.ts';
import type { RedactedStream } from './redact-stream.ts';
import { variantsOf } from './redact-variants.ts';

export interface NamedSecret {
  readonly name: string;
  readonly value: string;
}

export interface Redactor {
  /** Every spelling of every secret replaced by `[secret NAME]`. The same array where nothing was found. */
  bytes(data: Uint8Array): Uint8Array;
  text(text: string): string;
  /** For output that comes in pieces: a secret split over any number of them is found. */
  stream(): RedactedStream;
  /** There is nothing that it would look for. */
  readonly isEmpty: boolean;
}

export interface RedactorOptions {
  /** Keys that are known by their looks are replaced as well, by `[secret shape]`. */
  readonly shapes?: boolean;
}

/**
 * Made once for all the secrets, since a mark must fit to each of them. Throws `SkillError` `input/invalid` for a value that cannot be
 * kept out of texts (`redactionProblem` tells before) and for a name that is none.
 */
export function createRedactor(secrets: readonly NamedSecret[], { shapes = false }: RedactorOptions = {}): Redactor {
  for (const secret of secrets) checkSecret(secret);
  const spelled = secrets.map(({ name, value }) => ({ name, variants: variantsOf(value) }));
  const markFor = marksBeside(spelled.flatMap(({ variants }) => variants));
  const literals = spelled.flatMap(({ name, variants }) => {
    const mark = markFor(name);
    return variants.map((variant) => literal(variant, mark));
  });
  // The secrets that are known go first, so that their names are told and not their looks.
  const looks = shapes ? shapePatterns(markFor('shape')) : [];
  return redactorOver([unrepeated(literals), looks].filter(({ length }) => length > 0).map(patternTable));
}

function checkSecret({ name, value }: NamedSecret): void {
  const problem = /^[\w./-]{1,100}$/.test(name) ? redactionProblem(value) : 'has no plain name';
  if (problem === undefined) return;
  throw new SkillError({
    code: 'input/invalid',
    message: `the secret ${quoted(name)} ${problem}`,
    hint: 'give a longer value that stands nowhere else, and a name of letters, digits and _',
    data: { expected: 'a secret that can be kept out of texts' },
  });
}

/** Two secrets may have a spelling in common: it is told by the first name. */
function unrepeated(patterns: readonly Pattern[]): readonly Pattern[] {
  const byBytes = new Map<string, Pattern>();
  for (const pattern of patterns) {
    const bytes = Buffer.from(pattern.start).toString('latin1');
    if (!byBytes.has(bytes)) byBytes.set(bytes, pattern);
  }
  return [...byBytes.values()];
}

function redactorOver(tables: readonly PatternTable[]): Redactor {
  const bytes = (data: Uint8Array): Uint8Array => tables.reduce((found, table) => redactBytes(table, found), data);
  return {
    bytes,
    text: (text) => {
      if (tables.every((table) => isPlainlyFree(table, text))) return text;
      const before = Buffer.from(text);
      const after = bytes(before);
      return after === before ? text : Buffer.from(after).toString('utf8');
    },
    stream: () => joinedStreams(tables.map((table) => redactedStream(table))),
    isEmpty: tables.length === 0,
  };
}
