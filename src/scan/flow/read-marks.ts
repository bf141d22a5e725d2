/** Reads what each statement holds and does by itself. */
import { quoted } from '#core';
import {
  ACT_RULES,
  FILLS,
  HELD_RULES,
  HOME,
  LOOKS_ONLY,
  METADATA_LOGIN,
  PRINTS_ONLY,
  PUSHES,
  STARTED_SEND,
  TOOL_VARIABLE,
  withoutNamingOptions,
  withoutOptions,
  type Act,
  type Held,
  type MarkRule,
} from './marks.ts';
import { METADATA_HOST } from '../credential-use.ts';
import { findByGlob } from './globs.ts';
import type { FlowStatement, Unit } from './read-units.ts';
import { TOKEN, type Language, type Strings } from './split-code.ts';

/** By mark: where it comes from, for the message. */
export type Marks = Map<Held, string>;

const TOKENS = new RegExp(TOKEN, 'g');
/** Not what a person types, nor what a program prints. */
const LISTENS = /(?<!std(?:in|out|err))\.(?:on|once|addEventListener)\( ?\ue000|\.onmessage ?=/;

export interface MarkedStatement {
  readonly statement: FlowStatement;
  readonly direct: Marks;
  readonly acts: Set<Act>;
  readonly texts: readonly string[];
  readonly words: readonly string[];
}

const ofLanguage = <Mark>(rules: readonly MarkRule<Mark>[], language: Language): readonly MarkRule<Mark>[] =>
  rules.filter((one) => one.language === language && one.in === 'code');
const CODE_RULES = Object.fromEntries(
  (['python', 'javascript', 'shell'] as const).map((language) => {
    const held = ofLanguage(HELD_RULES, language);
    const acts = ofLanguage(ACT_RULES, language);
    const any = new RegExp([...held, ...acts].map(({ find }) => `(?:${find.source})`).join('|'), 'i');
    return [language, { held, acts, any }];
  }),
);
/** A cheap test before the paths. */
const SECRET_WORD = /[./_]|login|local|security/i;
/** Where a browser that is driven says its port; nothing of its user. */
const BROWSER_PORT = /devtoolsactiveport$/i;
/** In a shell a file is an argument of anything. */
const READS_TEXT = /\b(?:cat|head|tail|sed|awk|grep|cut|tr|tac|base64|xxd|strings|dd|jq|source)\b|<|(?:^|[;&] ?)\. /;
/** A program or a shell takes its variables from there, or a host of the user gets its settings. */
const LOADS_SETTINGS =
  /^(?:source|\.) |\bexport \$?\(|--(?:from-)?env-file|^(?:scp|rsync|ssh|gh|vercel|heroku|fly(?:ctl)?|docker|kubectl|sops|dotenvx?)\b/;
const GLOB = /\.[^\s]{0,20}[*?[]/;
const TOLD = new RegExp(TOOL_VARIABLE, 'i');
const SENDER = /^(?:curl|wget|nc|ncat|scp)$/;
/** Methods of a handler of logs whose result it sends. */
const SENT_BY_HANDLER = /^(?:mapLogRecord|makePickle)$/;
const TEXT_RULES = HELD_RULES.filter((one) => one.in === 'text');

export function readMarks(statement: FlowStatement, strings: Strings): MarkedStatement {
  const { unit, code, written, left } = statement;
  const isShell = unit.language === 'shell';
  const plain = isShell ? withoutNamingOptions(code.replace(TOLD, ' ')) : withoutOptions(code);
  const texts = isShell ? [] : [...plain.matchAll(TOKENS)].map(([, index]) => strings[Number(index)] ?? '');
  const named = isShell
    ? plain.split(/[\s=@'"<>|();,:`]+/)
    : texts
        .filter((text) => !BROWSER_PORT.test(text))
        .flatMap((text) => (/[\s'"@<>|;]/.test(text) ? [text, ...text.split(/[\s'"@<>|;]+/)] : [text]));
  const words = named.flatMap((word) => [word, ...(GLOB.test(word) ? [findByGlob(word) ?? []].flat() : [])]);
  const acts = new Set<Act>();
  const direct: Marks = new Map();
  const rules = CODE_RULES[unit.language];
  const sources = isShell || written === code ? [plain] : [plain, withoutOptions(written)];
  for (const source of sources) {
    if (rules === undefined || !rules.any.test(source)) continue;
    for (const { mark, find } of rules.acts) if (!acts.has(mark) && find.test(source)) acts.add(mark);
    for (const { mark, find } of rules.held)
      if (!direct.has(mark) && find.test(source)) direct.set(mark, originOf(mark, source, texts));
  }
  if (!isShell && texts.some((text) => HOME.test(text))) direct.set('home', NAMES.home);
  if (words.some((word) => METADATA_LOGIN.test(word)) && METADATA_HOST.test(unit.file.text))
    direct.set('secret', 'the cloud credentials of this machine');
  for (const { mark, find } of words.some((one) => SECRET_WORD.test(one)) ? TEXT_RULES : []) {
    const word = words.find((one) => find.test(one) && !one.startsWith('//') && !one.includes('://'));
    if (word !== undefined)
      direct.set(
        mark,
        mark === 'path' || mark === 'startup' || mark === 'settings' ? quoted(barePath(word), 60) : NAMES[mark],
      );
  }
  if (/^\{.*\}$/s.test(left.replace(/^(?:const|let|var) ?/, '')) || /\bin os\.environ$/.test(code))
    direct.delete('environment');
  if (statement.decoded.length > 0) direct.set('decoded', NAMES.decoded);
  if (isShell && LOOKS_ONLY.test(plain)) direct.delete('path');
  if (isShell && LOADS_SETTINGS.test(plain)) direct.delete('settings');
  if (isShell && !READS_TEXT.test(plain)) direct.delete('asset');
  if (isShell && PRINTS_ONLY.test(plain) && !plain.includes('>')) acts.delete('write');
  if (acts.has('start')) {
    const command = texts.join(' ');
    if (texts.some((text) => STARTED_SEND.test(text)) || PUSHES.test(command)) acts.add('send');
    // Commands in strings, such as `env`, are sources as in a shell; so are those in lists of words.
    for (const { mark, find } of CODE_RULES['shell']?.held ?? [])
      if (
        (mark === 'environment' || mark === 'secret') &&
        (texts.some((text) => find.test(text)) || (mark === 'secret' && find.test(command)))
      )
        direct.set(mark, NAMES[mark]);
  }
  if (isShell && PUSHES.test(plain)) acts.add('send');
  if (FILLS.test(code) && texts.some((text) => SENDER.test(text))) acts.add('send');
  if (/^return\b/.test(code) && SENT_BY_HANDLER.test(statement.scope.of?.name ?? '')) acts.add('send');
  if (
    LISTENS.test(code) &&
    (code.includes('.onmessage') || texts.some((text) => text === 'data' || text === 'message')) &&
    hasSocket(unit)
  )
    direct.set('received', NAMES.received);
  return { statement, direct, acts, texts, words };
}

/** Without what is left of an expansion: `${KEY:-~/.ssh/id_rsa}`. */
function barePath(word: string): string {
  return word.replace(/^[-+{}]{1,2}(?=[~/$.\w])/, '').replace(/[{}$]{1,3}$/, '');
}

/** For a download its URL, so that those of well-known vendors can be told apart. */
function originOf(mark: Held, source: string, texts: readonly string[]): string {
  if (mark === 'secret') return quoted(source, 90);
  if (mark !== 'remote') return NAMES[mark];
  return /https?:\/\/[^\s'"]{1,300}/i.exec([source, ...texts].join(' '))?.[0] ?? NAMES.remote;
}

/** Whether the skill has both ends of a flow. */
export function mayMeet(read: readonly MarkedStatement[]): boolean {
  const acts = new Set(read.flatMap((one) => [...one.acts]));
  const held = new Set(read.flatMap(({ direct }) => [...direct.keys()]));
  const isSecret = held.has('path') || held.has('environment') || held.has('secret') || held.has('settings');
  const isSent = acts.has('send') || held.has('client') || held.has('socket');
  return (
    (isSecret && isSent) ||
    (held.has('decoded') && (acts.has('evaluate') || acts.has('start'))) ||
    (held.has('remote') &&
      (acts.has('evaluate') ||
        acts.has('start') ||
        read.some(({ statement: { unit } }) => unit.language === 'shell'))) ||
    (held.has('asset') && acts.has('evaluate')) ||
    (held.has('startup') && acts.has('write')) ||
    ((held.has('home') || held.has('homeFile')) && (isSent || acts.has('encrypt'))) ||
    ((held.has('socket') || held.has('received')) &&
      (acts.has('start') || acts.has('evaluate') || acts.has('redirect')))
  );
}

const NAMES: Readonly<Record<Held, string>> = {
  path: 'a credential file',
  environment: 'the environment',
  secret: 'a credential store',
  socket: 'a connection',
  client: 'a connection',
  received: 'what a connection receives',
  remote: 'downloaded text',
  download: 'a downloaded file',
  decoded: 'decoded text',
  asset: 'the text of a data file',
  home: 'the home folder',
  homeFile: 'the files of the home folder',
  startup: 'a file that runs by itself',
  settings: 'the variables of a project',
};

export function hasSocket({ statements }: Unit): boolean {
  return statements.some(({ code }) => HELD_RULES.some(({ mark, find }) => mark === 'socket' && find.test(code)));
}
