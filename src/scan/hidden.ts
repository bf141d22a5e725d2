/** Finds text that a model reads and a person does not see. */
import { findHidden, quoted } from '#core';
import type { ScanFile, ScanFinding, ScanSeverity } from './finding.ts';
import { hasLongRun, matchText } from './match.ts';
import { isDocument } from './passages.ts';
import { SCAN_RULES, type RuleId } from './rules.ts';

const MAX_FINDINGS = 5;
/** Padding wider than any screen, which moves the text after it out of sight. */
const PADDING = /(?<![ \t])[ \t]{200,}(?=\S)/g;
const MIN_PADDING = 200;
const BEYOND_ASCII = /[^\t\n\x20-\x7e]/;
/** Of HTML, and definitions of Markdown that nothing refers to. */
const COMMENT = /<!--|^ {0,3}\[(?:\/\/|comment|\w{0,12}note|#)\]: ?(?:#|<>) ?[("']/gim;
const MAX_COMMENT = 4_000;
const STYLED =
  /(?:display: ?none|visibility: ?hidden|font-size: ?[01](?:px|pt|em)?\b|opacity: ?0(?![.\d])|color: ?(?:white|#fff(?:fff)?|transparent)\b|left: ?-\d{4})/gi;
/** HTML elements that can carry a style. */
const ELEMENT = /<(?:span|div|p|font|small|sub|details) /i;
/** Wording that addresses the model; ordinary author comments do not have it. */
const INSTRUCTION =
  /\b(?:you (?:must|should|need to|are)|ignore (?:all|any|the|previous|prior)|the (?:agent|assistant|model|ai|llm)\b|(?:agent|assistant|ai|llm|system|claude)(?: instructions?| note| only)?:|secretly|silently|(?:do not|don't|never) (?:tell|mention|show|reveal|ask)|before (?:any|each|every) |after (?:any|each|every) |curl |upload |send [^\n]{0,60}\bto\b|hidden instructions?|override|execute (?:the|this|all))/i;
const DANGEROUS: ReadonlySet<string> = new Set([
  'download-and-run',
  'encoded-payload',
  'reverse-shell',
  'exfiltration',
  'covert-channel',
  'copy-elsewhere',
  'credential-path',
  'environment-harvest',
  'conceal-from-user',
  'approval-evasion',
  'override-instructions',
  'private',
]);
const ADDRESSES_MODEL =
  /\b(?:agents?|assistant|model|ai|llm|claude|you|reader)\b|\b(?:do not|don't|never|without) (?:\w{1,12} ){0,2}(?:tell|mention|show|reveal|ask|report|print|explain|telling|mentioning|asking)|\b(?:silently|secretly|quietly)\b|\b(?:before|after|when|once|then|first)\b/i;
const HARMLESS_COMMENT =
  /^\s{0,20}(?:prettier|eslint|markdownlint|toc|todo|fixme|end|begin|start|copyright|spdx|license|vale|cspell|omit|more|no ?toc|generated|auto-generated|template)/i;
/** Cyrillic, and the Greek letters that look like Latin ones. The others are symbols and units: μmol, Fcγ, Δlog. */
const OTHER_ALPHABET = /[ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο\u0400-\u04ff]/;
const MIXED = /(?:[A-Za-z]{2}[ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο\u0400-\u04ff]|[ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο\u0400-\u04ff][A-Za-z]{2})/g;

/** A finding without the path of its file. */
export type HiddenText = Omit<ScanFinding, 'path'>;

interface HiddenAt {
  readonly rule: RuleId;
  readonly index: number;
  readonly says: string;
  readonly severity?: ScanSeverity;
}

export function findHiddenText(file: ScanFile): readonly HiddenText[] {
  const { text } = file;
  const isPlain = !BEYOND_ASCII.test(text);
  const found = [
    ...(isPlain ? [] : hiddenCharacters(text)),
    ...textAfterPadding(text),
    ...(isDocument(file) ? [...instructionsInComments(text), ...invisiblyStyledText(text)] : []),
    ...(isPlain ? [] : mixedScriptWords(text)),
  ];
  return found.map(({ rule, index, says, severity = SCAN_RULES[rule].severity }) => ({
    rule,
    severity,
    ...lineAndColumn(file.text, index),
    message: says,
  }));
}

function hiddenCharacters(text: string): readonly HiddenAt[] {
  const found: HiddenAt[] = [];
  const start = text.startsWith('\ufeff') ? 1 : 0;
  for (let at = start; found.length < MAX_FINDINGS;) {
    const hidden = findHidden(text, at);
    if (hidden === undefined) break;
    // A run of hidden characters is one finding.
    at = hidden.index + 1;
    for (let next = findHidden(text, at); next?.index === at; next = findHidden(text, at))
      at += next.codePoint > 0xffff ? 2 : 1;
    const severity = severityOfHidden(hidden.codePoint, {
      length: at - hidden.index,
      isInWord: LETTER.test(text.charAt(hidden.index - 1)) && LETTER.test(text.charAt(at)),
    });
    if (severity !== undefined)
      found.push({
        rule: 'hidden-unicode',
        index: hidden.index,
        severity,
        says: `a character that does not show: U+${hidden.codePoint.toString(16).toUpperCase().padStart(4, '0')}`,
      });
  }
  return found;
}

const LETTER = /[A-Za-z]/;
/** Zero-width characters in a row that can encode text. */
const ENCODES_TEXT = 8;

/**
 * Bidirectional controls and tag characters serve only to hide text. Single zero-width characters and marks also come from word processors;
 * inside a word they evade rules, and many in a row encode text.
 */
function severityOfHidden(
  code: number,
  { length, isInWord }: { readonly length: number; readonly isInWord: boolean },
): ScanSeverity | undefined {
  if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)) return 'critical';
  if (code >= 0xe0000 && code <= 0xe0fff) return 'critical';
  if ((code >= 0x200b && code <= 0x200f) || (code >= 0x2060 && code <= 0x2064)) {
    if (length >= ENCODES_TEXT) return 'critical';
    return isInWord ? 'high' : 'medium';
  }
  return code === 0x0d || code === 0x2028 || code === 0x2029 ? undefined : 'medium';
}

function textAfterPadding(text: string): readonly HiddenAt[] {
  if (!hasLongRun(text, MIN_PADDING, isBlank)) return [];
  return first(text.matchAll(PADDING)).map((match) => ({
    rule: 'hidden-text',
    index: match.index + match[0].length,
    says: `text after ${String(match[0].length)} blanks: ${quoted(text.slice(match.index + match[0].length).split('\n', 1)[0] ?? '')}`,
  }));
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function instructionsInComments(text: string): readonly HiddenAt[] {
  return first(text.matchAll(COMMENT), 50)
    .map((match) => ({ index: match.index, inside: commentFrom(text, match.index + match[0].length, match[0]) }))
    .filter(({ inside }) => INSTRUCTION.test(inside) && !HARMLESS_COMMENT.test(inside))
    .slice(0, MAX_FINDINGS)
    .map(({ index, inside }) => ({
      rule: 'hidden-text',
      index,
      severity: severityOfInstruction(inside),
      says: `a comment with instructions: ${quoted(inside.trim())}`,
    }));
}

/** An order that is out of sight and dangerous has no harmless reading. */
function severityOfInstruction(text: string): ScanSeverity {
  const { hits } = matchText({ path: 'hidden.md', text, isExecutable: false });
  if (hits.some(({ means, severity }) => DANGEROUS.has(means) && severity !== 'medium') && ADDRESSES_MODEL.test(text))
    return 'critical';
  return /\b(?:you must|ignore|the (?:agent|assistant|ai)|silently|secretly|curl|upload|send)\b/i.test(text)
    ? 'high'
    : 'medium';
}

function commentFrom(text: string, from: number, opening: string): string {
  const end = text.indexOf(opening === '<!--' ? '-->' : '\n', from);
  return text.slice(from, Math.min(end === -1 ? text.length : end, from + MAX_COMMENT));
}

/** Documents about web pages mention styles, so only a style on an element with instructions in it counts. */
function invisiblyStyledText(text: string): readonly HiddenAt[] {
  if (!text.includes('<') || !ELEMENT.test(text)) return [];
  return first(text.matchAll(STYLED), 50)
    .filter(({ index }) =>
      /<(?:span|div|p|font|small|sub|details) [^<>\n]{0,120}$/i.test(text.slice(Math.max(0, index - 140), index)),
    )
    .filter(({ index }) => INSTRUCTION.test(text.slice(index, index + 600).split('</', 1)[0] ?? ''))
    .slice(0, MAX_FINDINGS)
    .map(({ index, 0: style }) => ({
      rule: 'hidden-text',
      index,
      severity:
        severityOfInstruction(text.slice(index, index + 600).split('</', 1)[0] ?? '') === 'critical'
          ? 'critical'
          : 'high',
      says: `text made invisible by ${quoted(style)}`,
    }));
}

function mixedScriptWords(text: string): readonly HiddenAt[] {
  if (!OTHER_ALPHABET.test(text)) return [];
  return first(text.matchAll(MIXED)).map((match) => ({
    rule: 'mixed-scripts',
    index: match.index,
    says: `letters of two alphabets in one word: ${quoted(match[0])}`,
  }));
}

function first<T>(matches: Iterable<T>, limit = MAX_FINDINGS): readonly T[] {
  const found: T[] = [];
  for (const match of matches) {
    if (found.length >= limit) break;
    found.push(match);
  }
  return found;
}

function lineAndColumn(text: string, index: number): { readonly line: number; readonly column: number } {
  let line = 1;
  let start = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < index; at = text.indexOf('\n', at + 1)) {
    line += 1;
    start = at + 1;
  }
  return { line, column: index - start + 1 };
}
