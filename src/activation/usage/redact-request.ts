/** Removes from a request what says who wrote it and where: secrets, addresses, hosts, paths, and names as far as they can be recognized. */
import { hostname } from 'node:os';
import path from 'node:path';

import type { Surroundings } from '#core';
import { createRedactor } from '#journal';
import { readTextFile } from '#platform';

const MAX_SETTINGS = 100_000;
/** Shorter words are too often something else. */
const LEAST_NAME = 3;
/** Endings that hosts have and files do not. */
const HOST_ENDINGS =
  'com|org|net|edu|gov|io|dev|app|ai|co|info|biz|cn|hk|tw|jp|kr|de|uk|fr|nl|ch|at|it|es|pl|ru|in|au|ca|us|eu|local|localdomain|internal|intranet|lan|corp|home|test|example';

/** A file keeps its ending, because requests are about kinds of files. */
const FILE = (written: string): string => {
  const ending = /\.[A-Za-z][A-Za-z0-9]{0,7}$/.exec(written)?.[0] ?? '';
  return ending === '' ? 'folder' : `file${ending.toLowerCase()}`;
};

const RULES: readonly (readonly [RegExp, string | ((written: string) => string)])[] = [
  [/\b[a-z][a-z\d+.-]*:\/\/[^\s"'<>)\]，。；]+/giu, '[url]'],
  [/[\p{L}\d._%+-]+@[\p{L}\d-]+(?:\.[\p{L}\d-]+)+/gu, '[email]'],
  [/(?<![\w@])@[A-Za-z][\w-]+/g, '[handle]'],
  [
    /(\b(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key)|密码|口令)(\s*(?:[:=：]|is\b|是)\s*)[^\s，。；]+/giu,
    '$1$2[secret]',
  ],
  // Windows, home and absolute paths, then relative ones with a folder.
  [/(?<![\w.])(?:[A-Za-z]:\\|\\\\|~\/|\.{0,2}\/)[^\s"'`<>|，。；：）)]*[^\s"'`<>|，。；：）).,;:!?]/gu, FILE],
  [/(?<![\w/])[\p{L}\d_.-]+(?:[\\/][\p{L}\d_.-]+)+(?:\.[A-Za-z]\w*|\/)/gu, FILE],
  [/\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b/g, '[address]'],
  [/(?<![\w:])(?=[\da-f:]*::|(?:[\da-f]{1,4}:){7})[\da-f]{0,4}(?::[\da-f]{0,4}){2,7}(?![\w:])/gi, '[address]'],
  [new RegExp(String.raw`\b(?:[a-z\d-]+\.)+(?:${HOST_ENDINGS})\b(?::\d+)?`, 'gi'), '[host]'],
  [/\b(?:localhost|[a-z\d-]+):\d{2,5}\b/gi, '[host]'],
  // Names of files can be names of people and customers.
  [/(?<![\w.])[\p{L}\d][\p{L}\d_-]*\.[A-Za-z][A-Za-z\d]{1,4}(?![\w])/gu, FILE],
  [/\+?\d[\d ()/-]{5,}\d/g, '[number]'],
  [/\b(?:Mr|Mrs|Ms|Dr|Prof|Herr|Frau|M|Mme)\.? (?:\p{Lu}[\p{L}'’-]+ ?){1,3}(?<! )/gu, '[name]'],
  [
    /(?<=\b(?:[Dd]ear|[Hh]i|[Hh]ello|[Rr]egards,|[Cc]olleague|[Bb]oss|[Cc]ustomer|[Cc]lient|named|called|[Bb]y) )\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)?/gu,
    '[name]',
  ],
  [/\p{Script=Han}{1,3}(?=(?:先生|女士|小姐|老师|经理|总监|医生|教授|同学))/gu, '[name]'],
];

export function openRequestRedactor(surroundings: Surroundings): (text: string) => string {
  const secrets = createRedactor([], { shapes: true });
  const names = namesOfUser(surroundings);
  const own =
    names.length === 0
      ? undefined
      : new RegExp(String.raw`(?<![\p{L}\d])(?:${names.map(escapePattern).join('|')})(?![\p{L}\d])`, 'giu');
  return (text) => {
    // A path can contain the name.
    const plain = RULES.reduce(
      (at, [pattern, by]) => (typeof by === 'string' ? at.replaceAll(pattern, by) : at.replaceAll(pattern, by)),
      secrets.text(text),
    );
    return own === undefined ? plain : plain.replaceAll(own, '[name]');
  };
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.|?*+()[\]{}/]/g, String.raw`\$&`);
}

/** Of the account, the home folder, the machine and git. */
function namesOfUser({ env, home }: Surroundings): readonly string[] {
  const settings = home === undefined ? undefined : readTextFile(path.join(home, '.gitconfig'), MAX_SETTINGS);
  const git = settings?.type === 'read' ? (/^\s*name\s*=\s*"?([^"\n]+)/m.exec(settings.text)?.[1]?.trim() ?? '') : '';
  const all = [env['USER'], env['LOGNAME'], home && path.basename(home), hostname(), git, ...git.split(/\s+/)];
  const usual = new Set(['root', 'user', 'home', 'admin', 'ubuntu', 'runner', 'localhost']);
  return [...new Set(all)]
    .filter((name): name is string => name !== undefined && [...name].length >= LEAST_NAME && !usual.has(name))
    .toSorted((a, b) => b.length - a.length);
}
