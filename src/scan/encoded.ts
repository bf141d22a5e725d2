/**
 * Finds texts that no reader sees: literals that are encoded, shifted, reversed or cut into pieces. It does not ask which decoder the code
 * spells, in which language: each literal is tried with all of them, and counts if one shows a command, a host or a secret.
 */
import { gunzipSync, inflateSync } from 'node:zlib';

import { printable, quoted } from '#core';
import type { ScanFile, ScanFinding } from './finding.ts';
import { decodeBase32, rotate } from './flow/fold.ts';
import { hasLongRun } from './match.ts';
import { isDocument, isTestFile } from './passages.ts';
import { rateFinding, type Topic } from './rate.ts';

interface EncodedText {
  readonly line: number;
  readonly says: string;
  /** What is hidden. */
  readonly text: string;
}

/** The data of a script is as dangerous as the script; other data is only shown. */
export function findEncoded(files: readonly ScanFile[], topic: Topic): readonly ScanFinding[] {
  const scripts = files.filter((file) => !isDocument(file));
  return files
    .filter(({ binary, path, text }) => binary === undefined && text.length <= MAX_FILE && !isTestFile(path))
    .flatMap((file) => {
      const name = file.path.slice(file.path.lastIndexOf('/') + 1);
      const isRead = scripts.some((script) => script !== file && script.text.includes(name));
      return findEncodedTexts(file).map(({ line, says, text }): ScanFinding => {
        const severity =
          isRead && !isDocument(file) ? 'critical' : rateFinding('encoded-payload', text, { file, topic });
        const message = `${says} ${quoted(text, 80)}`;
        return { rule: 'encoded-payload', severity, path: printable(file.path), line, column: 1, message };
      });
    });
}

/** Bundles have everything in them. */
const MAX_FILE = 300_000;

/** Words of attacks that are long enough not to occur by chance, whatever a literal is decoded with. */
const CRIBS =
  `https:// http:// curl wget\u0020 /bin/ bash\u0020 .ssh/ import\u0020 import( exec( eval( require( subprocess child_process powershell id_rsa
  id_ed25519 credentials /dev/tcp authorized_keys .aws/ os.system system( urlopen socket.socket invoke- downloadstring security-credentials
  169.254.169.254 crontab .bashrc .git-credentials login\u0020data keychain`
    .split(/[\n ]+/)
    .filter((crib) => crib.length > 4);
/** What a decoded text must have to count as hidden on purpose. */
const TELLS =
  /https?:\/\/[\w.-]{1,80}\.[a-z]{2,12}|https?:\/\/\d{1,3}\.\d|\/bin\/(?:ba|z|da)?sh\b|\bcurl -|\bcurl http|\bwget [-h]|\bimport (?:os|sys|socket|subprocess|urllib|requests|base64|pty)\b|\b__import__\(|\bsubprocess\b|\bchild_process\b|\bpowershell\b|\binvoke-(?:expression|webrequest|restmethod)|\bdownload(?:string|file)\b|\.ssh\b|\bid_(?:rsa|ed25519)\b|\/dev\/(?:tcp|udp)\/|\beval\(|\bexec\(|\bos\.(?:system|popen|environ)|\.aws\/|\bauthorized_keys\b|\b(?:nc|ncat) -|\| ?(?:ba)?sh\b|\bbash -|\bchmod \+x|\bcrontab\b|\.git-credentials|\.netrc\b|\blogin data\b|169\.254\.169\.254|security-credentials|\bkeychain|\.(?:bash|zsh)rc\b|\bsystem\(|\burlopen\b/i;
/** Between pieces; no code has it. */
const CUT = '\u0001';
/** Names that are cut into pieces only to hide them. */
const NAMES =
  `curl wget netcat ncat socat powershell child_process execSync spawnSync subprocess check_output urlopen urllib requests id_rsa id_ed25519
  id_ecdsa credentials WebClient DownloadString DownloadFile Invoke-Expression Invoke-WebRequest Invoke-RestMethod FromBase64String authorized_keys
  crontab b64decode base64_decode security-credentials eval exec popen system shell_exec passthru bash environ keychain .ssh .aws .netrc .gnupg .kube
  .npmrc .pypirc .bashrc .zshrc .git-credentials /dev/tcp .pth sitecustomize usercustomize https:// http:// 169.254.169.254 /bin/sh /bin/bash`
    .toLowerCase()
    .split(/\s+/);
const PIECED = new RegExp(
  String.raw`(?<!\w)(?:${NAMES.map((name) => [...name].map((one) => one.replace(/[.]/, String.raw`\.`)).join(`${CUT}?`)).join('|')})(?!\w)`,
  'gi',
);

const WORD = /(?<![\w+/])[A-Za-z0-9+/_-]{24,20000}={0,2}/g;
const MIN_WORD = 24;
const isWordCharacter = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x2f && code <= 0x39) || code === 0x2b;
/** No path and no name in words. */
const IS_ENCODED = /^(?=.{0,60}\d)(?:.{0,60}[A-Z]|[0-9a-f]+$|[2-7A-Z]+$)/;
const NUMBERS = /(?:0x[0-9a-f]{1,2}|\d{1,3})(?:\s{0,20},\s{0,20}(?:0x[0-9a-f]{1,2}|\d{1,3})){9,4000}/gi;
const CHARACTERS =
  /\b(?:string\.char|utf8\.char|fromcharcode|chr|pack)\( ?(?:["']c\*["'], ?)?((?:0x[0-9a-f]{2}|\d{2,3})(?:\s{0,4},\s{0,4}(?:0x[0-9a-f]{2}|\d{2,3})){3,60})\s?\)/gi;
const MIN_LITERAL = 9;
const MAX_PIECE = 40;
const MAX_KEYS = 24;
/** Between pieces of one text. */
const BETWEEN = /^[\s+.,;&()[\]\\]{0,20}(?:(?:const|let|var|my|local|our)? ?[$@]?[\w.]{1,30} ?\.?[:=]=? ?[([]?\s?)?$/;

interface Literal {
  readonly at: number;
  readonly end: number;
  readonly value: string;
}

function findEncodedTexts(file: ScanFile): readonly EncodedText[] {
  const { text } = file;
  // In documents quotes are marks of speech.
  const literals = isDocument(file) ? [] : readLiterals(text);
  const keys = [...new Set(literals.map(({ value }) => value).filter(({ length }) => length >= 2 && length <= 32))];
  const found = new Map<number, Omit<EncodedText, 'line'>>();
  const add = (at: number, says: string, shown: string | undefined): void => {
    if (shown !== undefined && !found.has(at)) found.set(at, { says, text: shown });
  };
  const seen = new Set<string>();
  const tryText = (at: number, value: string): void => {
    if (value.length < MIN_LITERAL || seen.has(value)) return;
    seen.add(value);
    add(at, 'hides in encoded text', decodeAny(value, keys.slice(0, MAX_KEYS)));
  };
  for (const { at, value } of literals) tryText(at, value);
  if (hasLongRun(text, MIN_WORD, isWordCharacter))
    for (const match of text.matchAll(WORD)) if (IS_ENCODED.test(match[0])) tryText(match.index, match[0]);
  for (const match of text.matchAll(NUMBERS)) {
    const bytes = Buffer.from(match[0].split(',').map(Number));
    add(match.index, 'hides in numbers', showBytes(bytes, keys.slice(0, MAX_KEYS)));
  }
  // A few characters by their numbers are no text of their own, but can be a name.
  if (!isDocument(file))
    for (const match of text.matchAll(CHARACTERS)) {
      const name = String.fromCodePoint(
        ...(match[1] ?? '')
          .split(',')
          .map(Number)
          .map((code) => code & 0xff),
      ).toLowerCase();
      if (NAMES.some((one) => name.includes(one))) add(match.index, 'hides in numbers', name);
    }
  for (const run of runsOf(literals, text)) {
    add(run[0]?.at ?? 0, 'hides in pieces', findPieced(run.map(({ value }) => value)));
    const joined = run.map(({ value }) => value).join('');
    if (run.length > 1) tryText(run[0]?.at ?? 0, joined);
  }
  return [...found].slice(0, MAX_FOUND).map(([at, one]) => ({ ...one, line: text.slice(0, at).split('\n').length }));
}

/** The strings of a language with quotation marks, in one pass; one that no mark closes ends with its line. */
function readLiterals(text: string): readonly Literal[] {
  const found: Literal[] = [];
  const marks = /["'`]/g;
  let hasTemplates = true;
  for (let match = marks.exec(text); match !== null; match = marks.exec(text)) {
    const [mark] = match;
    const end = mark === '`' && !hasTemplates ? match.index : endOfLiteral(text, match.index + 1, mark);
    const isClosed = end > match.index && text[end] === mark;
    if (isClosed) {
      const value = text.slice(match.index + 1, Math.min(end, match.index + MAX_LITERAL));
      found.push({ at: match.index, end: end + 1, value: value.replaceAll(/\\(["'\\/])|\\\n/g, '$1') });
    } else if (mark === '`') hasTemplates = false;
    marks.lastIndex = isClosed ? end + 1 : mark === '`' ? match.index + 1 : end;
  }
  return found;
}

function endOfLiteral(text: string, from: number, mark: string): number {
  const last = mark === '`' ? mark : '\n';
  let end = from;
  while (end < text.length && text[end] !== mark && text[end] !== last) end += text[end] === '\\' ? 2 : 1;
  return end;
}

const MAX_LITERAL = 20_000;
const MAX_FOUND = 5;
const MAX_RUN = 400;

/** Literals that follow each other with nothing between but operators and names. */
function runsOf(literals: readonly Literal[], text: string): readonly (readonly Literal[])[] {
  const runs: Literal[][] = [];
  let run: Literal[] = [];
  for (const literal of literals) {
    const before = run.at(-1);
    const gap = before === undefined ? '' : text.slice(before.end, literal.at);
    if (before !== undefined && (gap.length > 60 || !BETWEEN.test(gap) || run.length >= MAX_RUN)) {
      if (run.length > 1) runs.push(run);
      run = [];
    }
    run.push(literal);
  }
  if (run.length > 1) runs.push(run);
  return runs;
}

/** A name that only the pieces together have. A scheme before a host is no such name, unless it is cut itself. */
function findPieced(values: readonly string[]): string | undefined {
  if (values.filter(({ length }) => length < MAX_PIECE).length < 2) return undefined;
  for (const order of [values, values.toReversed()]) {
    const joined = order.join('').toLowerCase();
    if (!NAMES.some((name) => joined.includes(name))) continue;
    const pieces = `${CUT}${order.join(CUT)}${CUT}`;
    const found = [...pieces.matchAll(PIECED)].find(
      ({ 0: whole, index }) =>
        whole.includes(CUT) &&
        !whole.includes(`:${CUT}//`) &&
        // A name between the end of one text and the start of the next is there by chance.
        (pieces[index - 1] === CUT || pieces[index + whole.length] === CUT || whole.split(CUT).length > 2),
    );
    if (found !== undefined) return found[0].replaceAll(CUT, '');
  }
  return undefined;
}

type Bytes = Buffer;

function decodeAny(value: string, keys: readonly string[]): string | undefined {
  const changed = shiftedText(value) ?? unmixedText(value);
  if (changed !== undefined) return changed;
  for (const written of [value, reverse(value)])
    for (const bytes of decodings(written)) {
      const shown = showBytes(bytes, keys);
      if (shown !== undefined) return shown;
      const inner = bytes.toString('latin1').trim();
      if (inner.length < MIN_LITERAL || !/^[\x20-\x7e\s]+$/.test(inner)) continue;
      for (const again of [inner, reverse(inner)])
        for (const deeper of decodings(again)) {
          const found = showBytes(deeper, []);
          if (found !== undefined) return found;
        }
    }
  return undefined;
}

const SHORTEST_ENCODED = 16;

/** What the text is, if it is in one of the encodings. */
function decodings(written: string): readonly Bytes[] {
  const value = written.replaceAll(/\s+/g, '');
  if (value.length < SHORTEST_ENCODED) return [];
  const found: Bytes[] = [];
  if (/^(?:[0-9a-f]{2})+$/i.test(value)) found.push(Buffer.from(value, 'hex'));
  if (/^(?:(?:\\|0)?x[0-9a-f]{2}[,\s]?)+$/i.test(value))
    found.push(Buffer.from(value.replaceAll(/\\?0?x|,/gi, ''), 'hex'));
  if (/^[A-Za-z0-9+/_-]+={0,2}$/.test(value)) found.push(Buffer.from(value, 'base64'));
  if (/^[A-Z2-7]+=*$/.test(value)) found.push(Buffer.from(decodeBase32(value), 'latin1'));
  if (/^(?:\d{2,3}[ ,;:.|-]){7,}\d{2,3}$/.test(written.trim()))
    found.push(Buffer.from(written.trim().split(/\D/).map(Number)));
  if (/^[01]{64,}$/.test(value))
    found.push(Buffer.from((value.match(/.{8}/g) ?? []).map((one) => Number.parseInt(one, 2))));
  if (/^(?:%[0-9a-f]{2}){6,}/i.test(value))
    found.push(
      Buffer.from(
        value.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16))),
      ),
    );
  if (/^(?:&#\d{2,3};){6,}/.test(value))
    found.push(Buffer.from(value.replaceAll(/&#(\d{2,3});/g, (_, code: string) => String.fromCodePoint(Number(code)))));
  return found.flatMap((bytes) => [bytes, ...unpack(bytes)]);
}

const MAX_UNPACKED = { maxOutputLength: 200_000 };

/** Compressed data, by its first bytes. */
function unpack(bytes: Bytes): readonly Bytes[] {
  const [first = 0, second = 0] = bytes;
  const by = first === 0x78 ? inflateSync : first === 0x1f && second === 0x8b ? gunzipSync : undefined;
  try {
    return by === undefined ? [] : [by(bytes, MAX_UNPACKED)];
  } catch {
    return [];
  }
}

const isText = (text: string): boolean => /^[\t\n\r\x20-\x7e]{6,}$/.test(text);

/** The text of bytes, if it is one that is hidden on purpose: as they are, shifted, or combined with a key. */
function showBytes(bytes: Bytes, keys: readonly string[]): string | undefined {
  const text = bytes.toString('latin1');
  if (isText(text) && TELLS.test(text)) return text;
  const shifted = shiftedText(text);
  if (shifted !== undefined) return shifted;
  for (const key of keys) {
    const codes = Buffer.from(key);
    const combined = Buffer.from(bytes.map((byte, at) => byte ^ (codes[at % codes.length] ?? 0))).toString('latin1');
    if (isText(combined) && TELLS.test(combined)) return combined;
  }
  return undefined;
}

/** How each character was changed by one number, and what stays the same then: the differences of neighbours. */
const CHANGES = [
  { change: (code: number, by: number): number => code + by, between: (a: number, b: number): number => b - a },
  { change: (code: number, by: number): number => code ^ by, between: (a: number, b: number): number => a ^ b },
] as const;

/** The first steps between the characters of a crib, as one number: a text without any of them has no crib, however it was changed. */
const FIRST_STEPS = 4;

function stepsFrom(text: string, at: number, between: (a: number, b: number) => number, count: number): string {
  let found = '';
  for (let place = at; place < at + count; place += 1)
    found += String.fromCharCode(between(text.charCodeAt(place), text.charCodeAt(place + 1)) & 0xff);
  return found;
}

const SHIFTED = CHANGES.map(({ between }) => {
  const byStart = new Map<number, { readonly crib: string; readonly isReversed: boolean; readonly steps: string }[]>();
  for (const crib of CRIBS)
    for (const isReversed of [false, true]) {
      const written = isReversed ? reverse(crib) : crib;
      const steps = stepsFrom(written, 0, between, written.length - 1);
      let start = 0;
      for (let at = 0; at < FIRST_STEPS; at += 1) start = (start << 8) | steps.charCodeAt(at);
      byStart.set(start, [...(byStart.get(start) ?? []), { crib: written, isReversed, steps }]);
    }
  return byStart;
});
const MAX_SHIFTED = 8_000;
/** The distance between an upper-case letter and its lower case. */
const CASE = 32;
const DIGEST = /^(?:[0-9a-f]{2}){8,}$/i;
/** Written for people. */
const READS = /\b(?:the|and|is|not|for|of|in|to|with|error|failed)\b [a-z]/i;

function shiftedText(value: string): string | undefined {
  const text = value.slice(0, MAX_SHIFTED);
  let [sum, xor] = [0, 0];
  for (let at = 1; at < text.length; at += 1) {
    const [a, b] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
    sum = (sum << 8) | ((b - a) & 0xff);
    xor = (xor << 8) | ((a ^ b) & 0xff);
    if (at < FIRST_STEPS) continue;
    const found = shiftedAt(text, at - FIRST_STEPS, [SHIFTED[0]?.get(sum), SHIFTED[1]?.get(xor)]);
    if (found !== undefined) return found;
  }
  return undefined;
}

type Crib = { readonly crib: string; readonly isReversed: boolean; readonly steps: string };

function shiftedAt(text: string, place: number, cribs: readonly (readonly Crib[] | undefined)[]): string | undefined {
  for (const [kind, { change, between }] of CHANGES.entries())
    for (const { crib, isReversed, steps } of cribs[kind] ?? []) {
      if (place + crib.length > text.length || stepsFrom(text, place, between, steps.length) !== steps) continue;
      const by = between(text.charCodeAt(place), crib.charCodeAt(0));
      if ((by === 0 && !isReversed) || Math.abs(by) === CASE || DIGEST.test(text) || READS.test(text)) continue;
      const plain = [...text].map((one) => String.fromCharCode(change(one.charCodeAt(0), by) & 0xff_ff)).join('');
      if (isText(plain)) return isReversed ? reverse(plain) : plain;
    }
  return undefined;
}

function reverse(text: string): string {
  return [...text].toReversed().join('');
}

const has = (text: string): boolean => CRIBS.some((crib) => text.includes(crib));

/** What remains of a text without every other letter, or without the character that fills it. */
function unmixedText(value: string): string | undefined {
  if (value.length > MAX_SHIFTED || has(value)) return undefined;
  const fills = [...new Set(value.match(/[#~^_@!%&;,=`\x7f-\uffff]/g))]
    .slice(0, MAX_FILLS)
    .filter((fill) => value.split(fill).length > MIN_FILLS);
  const others = [2, 3].flatMap((step) =>
    Array.from({ length: step }, (_, from) => [...value].filter((_one, at) => at % step === from).join('')),
  );
  return [rotate(value), ...others, ...fills.map((fill) => value.replaceAll(fill, ''))].find(has);
}

const MIN_FILLS = 3;
const MAX_FILLS = 12;
