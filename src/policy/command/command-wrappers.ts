/**
 * Programs whose job is to run another command line: `timeout 5 git status` is `git status`. They are read as far as their options are
 * known; with any other option the program that they run counts as hidden.
 */

import {
  ANY,
  baseName,
  computedWord,
  fixedWord,
  moved,
  systemName,
  type CommandWord,
  type SimpleCommand,
  type CommandLine,
} from './command-words.ts';
import { matchesStars } from './command-pattern.ts';
import { isKnownOption, joinWords, readBuiltin, type Inside, type Words } from './command-builtins.ts';
import type { LineFacts } from './line-facts.ts';
import { mentioned } from './command-mentions.ts';

export interface CommandReader {
  readonly depth: number;
  /** What the command reads from stdin; undefined if the line does not show it. */
  readonly stdin: string | undefined;
  readonly facts: LineFacts;
  /** The name is that of a function of the line. */
  readonly isFunction: boolean;
  /** A program starts it, so that `echo` is a program as well. */
  readonly isStarted?: boolean;
  /** The line is read by `sh`, which may be another shell than bash. */
  readonly isPosix?: boolean;
  readLine(text: string, isPosix: boolean): CommandLine;
  /** For a line that another machine or environment runs. */
  readMentioned(text: string): CommandLine;
}

const PROGRAM: Inside = { role: 'program' };
/** Maximum nesting of programs that run programs. */
const MAX_NESTING = 16;

/** Completes the words of a command with what it runs. */
export function simpleCommand(words: Words, reader: CommandReader): SimpleCommand {
  const { role, inner = [], mentions = [], hides } = readInside(words, reader);
  return { words, role, inner, mentions, isMoved: false, hides };
}

function readInside(words: Words, reader: CommandReader): Inside {
  const [first] = words;
  if (first === undefined) return { role: 'shell' };
  if (first.kind !== 'fixed') return { role: 'program', hides: `the name of the program is computed: ${first.text}` };
  if (first.text === '') return { role: 'program', hides: 'the name of the program is empty' };
  const program = baseName(first.text)
    .toLowerCase()
    .replace(/\.exe$/, '');
  if (reader.depth > MAX_NESTING) return { role: 'program', hides: `${program} runs programs that run programs` };
  if (reader.isStarted === true) {
    if (HARMLESS.has(first.text)) return { role: 'shell' };
  } else {
    if (reader.isPosix === true && OF_BASH_ONLY.has(first.text))
      return hidden(program, 'is a program for other shells');
    const builtin = readBuiltin(words, reader.facts, (text) => readInnerLines(text, program, reader));
    if (builtin !== undefined || reader.isFunction) return builtin ?? { role: 'shell' };
  }
  const inside = insideProgram(program, words, reader);
  // `./timeout` and `Timeout` are other programs than the one of the system.
  return inside.role === 'wrapper' && systemName(first.text) !== program ? { ...inside, role: 'program' } : inside;
}

/** Programs of the system that start no other and change nothing, as the builtins of the same names. */
const HARMLESS: ReadonlySet<string> = new Set(['echo', 'printf', 'true', 'false', 'pwd']);
/** Builtins that are read as such, and that `sh` may not have. */
const OF_BASH_ONLY: ReadonlySet<string> = new Set(
  'builtin declare typeset let pushd popd dirs disown mapfile readarray shopt source'.split(' '),
);

function insideProgram(program: string, words: Words, reader: CommandReader): Inside {
  if (HIDING.has(program) || /^ld(?:-[\w.-]+)?\.so/.test(program)) return hidden(program);
  if (SHELLS.has(program)) return insideShell(words, reader);
  if (program === 'source' || program === '.') return fromFile(program, words[1], reader);
  const finder = FINDERS.get(program);
  if (finder !== undefined) return insideFinder(words, finder, reader);
  const options = WRAPPERS.get(program);
  if (options !== undefined) return insideWrapper(program, words, options, reader);
  return { role: 'program', mentions: mentioned(program, words, (text) => reader.readMentioned(text)) };
}

function hidden(program: string, why = 'runs another program in a way that is not read'): Inside {
  return { role: 'program', hides: `${program} ${why}` };
}

/** A command line in a word: its commands, or the reason why they are unknown. */
function readInnerLines(
  text: CommandWord | undefined,
  program: string,
  reader: CommandReader,
  isPosix = reader.isPosix ?? false,
): Inside {
  if (text === undefined || text.kind !== 'fixed') return hidden(program, 'runs a command line that is computed');
  if (isPosix && OF_BASH.test(text.text)) return hidden(program);
  const line = reader.readLine(text.text, isPosix);
  if (line.type === 'unclear') return hidden(program, `runs a line that cannot be read: ${line.reason}`);
  return { role: 'wrapper', inner: line.commands };
}

function innerCommand(words: Words, reader: CommandReader, isStarted = true): SimpleCommand {
  return simpleCommand(words, { ...reader, depth: reader.depth + 1, isFunction: false, isStarted });
}

/** Options of a wrapper. An option that is not listed hides what runs. */
interface WrapperOptions {
  readonly flags?: string;
  /** Letters whose value is the rest of the word or the next word. */
  readonly valued?: string;
  /** Letters whose value can only be the rest of the word. */
  readonly attached?: string;
  readonly long?: string;
  readonly longValued?: string;
  /** Number of operands before the program. */
  readonly operands?: number;
  /** `NAME=value` may come before the program. */
  readonly assigns?: boolean;
  /** The words are joined and given to a shell. */
  readonly isLine?: boolean;
  /** Options with which nothing else runs. */
  readonly alone?: RegExp;
  readonly isBuiltin?: boolean;
  /** Letters of placeholders that are replaced by unknown text, which is also appended. */
  readonly fills?: string;
}

const WRAPPERS: ReadonlyMap<string, WrapperOptions> = new Map<string, WrapperOptions>([
  ['nice', { flags: '0123456789', valued: 'n', longValued: 'adjustment' }],
  ['nohup', {}],
  ['setsid', { flags: 'cfw', long: 'ctty fork wait' }],
  [
    'timeout',
    {
      flags: 'fpv',
      valued: 'ks',
      long: 'foreground preserve-status verbose',
      longValued: 'kill-after signal',
      operands: 1,
    },
  ],
  ['stdbuf', { valued: 'ioe', longValued: 'input output error' }],
  ['ionice', { flags: 't', valued: 'cn', long: 'ignore', longValued: 'class classdata' }],
  // With `-o` it writes a file.
  ['time', { flags: 'pqvV', valued: 'f', long: 'portability quiet verbose', longValued: 'format' }],
  // An empty environment has no PATH, and then each program has its own.
  ['env', { flags: '0v', long: 'null debug', assigns: true }],
  [
    'sudo',
    {
      flags: 'AbEHknPSB',
      valued: 'CgphrTtUu',
      long: 'askpass background non-interactive preserve-env set-home stdin',
      longValued: 'close-from group host prompt role type user',
      assigns: true,
      alone: /^(?:-[lvVK]+|--(?:list|validate|version|remove-timestamp))$/,
    },
  ],
  ['busybox', { alone: /^--(?:list|list-full|help)$/ }],
  ['command', { alone: /^-[vV]+$/, isBuiltin: true }],
  ['builtin', { isBuiltin: true }],
  ['exec', { isBuiltin: true }],
  [
    'xargs',
    {
      flags: '0rtxop',
      valued: 'nLPsdEaRSIJ',
      attached: 'ile',
      long: 'null no-run-if-empty verbose exit interactive open-tty show-limits replace eof max-lines',
      longValued: 'max-args max-procs max-chars delimiter arg-file',
      fills: 'IJi',
    },
  ],
  [
    'watch',
    {
      flags: 'bcCdegprtw',
      valued: 'nqs',
      long: 'beep color no-color differences errexit chgexit no-title no-wrap precise no-rerun',
      longValued: 'interval equexit',
      isLine: true,
    },
  ],
]);

/** Wrappers whose options are not read. */
const HIDING: ReadonlySet<string> = new Set(
  `parallel chrt taskset doas toybox su runuser sg newgrp pkexec machinectl chroot unshare nsenter setpriv prlimit setarch linux32 linux64 i386 x86_64 uname26 strace ltrace
  tmux screen zellij byobu dtach abduco sshpass gosu su-exec tini dumb-init caffeinate winpty wine cmd powershell xterm tsp pueue proot schroot systemd-inhibit
  systemd-cat gdb lldb rr perf valgrind script flock entr hyperfine expect unbuffer rlwrap socat ncat faketime fakeroot fakechroot eatmydata torsocks
  proxychains proxychains4 systemd-run dbus-run-session dbus-launch xvfb-run start-stop-daemon run-parts at batch crontab firejail bwrap
  numactl cgexec choom catchsegv setfacl-run chpst softlimit setuidgid capsh nsjail runc crun inotifywait watchexec nodemon
  zsh ksh mksh fish csh tcsh pwsh nu elvish xonsh rc es`.split(/\s+/),
);

function insideWrapper(program: string, words: Words, options: WrapperOptions, reader: CommandReader): Inside {
  // `env command x` starts a program of this name.
  const isBuiltin = options.isBuiltin === true && reader.isStarted !== true;
  if (options.alone !== undefined && words[1]?.kind === 'fixed' && options.alone.test(words[1].text))
    return isBuiltin ? { role: 'shell' } : PROGRAM;
  const end = endOfOptions(words, options);
  if (end === undefined) return hidden(program);
  let at = end;
  for (let word = words[at]; options.assigns === true && word?.text.includes('=') === true; word = words[at]) {
    const [start = ''] = word.pieces;
    if (!start.includes('=') || word.isSplit) return hidden(program);
    reader.facts.set(start.slice(0, start.indexOf('=')), ANY);
    at += 1;
  }
  if (words.slice(end, at + (options.operands ?? 0)).some(({ isSplit }) => isSplit)) return hidden(program);
  at += options.operands ?? 0;
  const inner = words.slice(at);
  if (inner.length === 0) return isBuiltin ? { role: 'shell' } : PROGRAM;
  if (options.isLine === true) return readInnerLines(joinWords(inner), program, reader, true);
  const filled = options.fills === undefined ? inner : fill(words.slice(0, end), inner, options.fills);
  if (options.fills !== undefined && words.slice(0, end).some(({ text }) => /^-[^-]*a|^--arg-file/.test(text)))
    reader.facts.noteInput();
  const role = isBuiltin ? 'shell' : options.isBuiltin === true ? 'program' : 'wrapper';
  return { role, inner: [innerCommand(filled, reader, !isBuiltin || program === 'exec')] };
}

/** Index of the first word behind the options; undefined if an option is not known. */
function endOfOptions(words: Words, options: WrapperOptions): number | undefined {
  const { flags = '', valued = '', attached = '', long = '', longValued = '' } = options;
  let at = 1;
  for (let word = words[at]; word !== undefined; word = words[at]) {
    const { text, kind, isSplit } = word;
    if (kind !== 'fixed' && (isSplit || text.startsWith('-') || word.pieces[0] === '')) return undefined;
    if (!text.startsWith('-')) return at;
    if (text === '-') return options.assigns === true ? undefined : at;
    if (text === '--') return at + 1;
    if (text.startsWith('--')) {
      const [name = ''] = text.slice(2).split('=', 1);
      const takes = longValued.split(' ').includes(name);
      if (!takes && !long.split(' ').includes(name)) return undefined;
      if (takes && !text.includes('=')) at += 1;
      if (words[at]?.isSplit === true) return undefined;
      at += 1;
      continue;
    }
    const letters = Array.from(text.slice(1));
    const taking = letters.findIndex((letter) => valued.includes(letter) || attached.includes(letter));
    const own = taking === -1 ? letters : letters.slice(0, taking);
    if (!own.every((letter) => flags.includes(letter))) return undefined;
    const isNext = taking === letters.length - 1 && valued.includes(letters[taking] ?? ' ');
    if (isNext) at += 1;
    if (words[at]?.isSplit === true) return undefined;
    at += 1;
  }
  return words.length;
}

/** Words that contain a placeholder are unknown; without one, any number of words from stdin follow. */
function fill(options: Words, inner: Words, letters: string): Words {
  const signs = [
    '{}',
    ...options.flatMap(({ text }, index) => findPlaceholder(text, options[index + 1]?.text ?? '', letters)),
  ];
  const isSplit = options.some(({ text }) => /^-[^-]*J/.test(text));
  const filled = inner.map((word) => {
    const sign = signs.find((each) => each !== '' && word.text.includes(each));
    return sign === undefined ? word : { ...computedWord(word.text, word.text.split(sign)), isSplit };
  });
  // The last of `-I`, `-L` and `-n` counts.
  const isReplaced = signs.length > 1 && !options.some(({ text }) => /^-[^-]*[lLn]|^--max/.test(text));
  return isReplaced ? filled : [...filled, { ...computedWord(''), isSplit: true }];
}

function findPlaceholder(text: string, next: string, letters: string): readonly string[] {
  const [, attached] = new RegExp(`^-[^-]*?[${letters}](.*)$`, 's').exec(text) ?? [];
  if (attached !== undefined) return [attached === '' ? next : attached];
  const [, long] = /^--replace=(.*)$/s.exec(text) ?? [];
  return long === undefined ? [] : [long];
}

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'ash', 'rbash']);
/** What other shells than bash read in another way: `sh -c '((a))'` runs `a`. */
const OF_BASH = /(?<!\$)\(\(|\[\[|\$['"[]|<<<|[<>]\(|&>|\|&|;&|=\(|\b(?:function|select|coproc|time)\b/;

/** `sh -c TEXT` is what TEXT runs; `sh FILE` is the program `sh`. A login shell and an interactive one run other files first. */
function insideShell(words: Words, reader: CommandReader): Inside {
  const program = baseName(words[0]?.text ?? '');
  let at = 1;
  let letters = '';
  for (let word = words[at]; word !== undefined && /^[-+]./.test(word.text); word = words[at]) {
    if (word.kind !== 'fixed') return hidden(program);
    at += 1;
    if (word.text === '--') break;
    if (/^--(?:version|help)$/.test(word.text)) return PROGRAM;
    if (/^--(?:norc|noprofile)$/.test(word.text)) continue;
    const own = word.text.replaceAll(/[cs]/g, '');
    if (!isKnownOption(own, undefined)) return hidden(program);
    if (own.endsWith('o')) {
      if (!isKnownOption(words[at]?.text ?? '', own)) return hidden(program);
      at += 1;
    }
    letters += word.text;
  }
  const operand = words[at];
  // `bash "$x"` may be `bash -c`.
  if (operand !== undefined && operand.kind !== 'fixed' && '-'.startsWith(operand.pieces[0]?.charAt(0) ?? ''))
    reader.facts.need('plain', operand.value);
  if (letters.includes('s')) return fromStdin(program, reader);
  if (!letters.includes('c')) return fromFile(program, operand, reader);
  return readInnerLines(operand, program, reader, program !== 'bash');
}

/** A script is the program that reads it. A file that stands for stdin is not a script. */
function fromFile(program: string, file: CommandWord | undefined, reader: CommandReader): Inside {
  if (file === undefined || file.text === '/dev/stdin') return fromStdin(program, reader);
  return /^\/(?:dev|proc)\//.test(file.text) || file.text === '-' || /<\(/.test(file.text)
    ? hidden(program, 'reads its commands from stdin')
    : PROGRAM;
}

function fromStdin(program: string, reader: CommandReader): Inside {
  if (reader.stdin === undefined) return hidden(program, 'reads its commands from stdin');
  const isPosix = SHELLS.has(program) ? program !== 'bash' : reader.isPosix;
  const inside = readInnerLines(fixedWord(reader.stdin), program, reader, isPosix);
  return { ...inside, role: 'program' };
}

/** Options of programs that run a command for each file; it ends with `;` or `+`. */
const FINDERS: ReadonlyMap<string, RegExp> = new Map([
  ['find', /^-(?:exec|execdir|ok|okdir)$/],
  ['fd', /^(?:-[xX]|--exec(?:-batch)?)$/],
  ['fdfind', /^(?:-[xX]|--exec(?:-batch)?)$/],
]);

const RUN_OPTIONS = ['-exec', '-execdir', '-ok', '-okdir', '-x', '-X', '--exec', '--exec-batch'];

function insideFinder(words: Words, option: RegExp, reader: CommandReader): Inside {
  const inner: SimpleCommand[] = [];
  const program = baseName(words[0]?.text ?? '');
  // `fd -C DIR` runs everything there, and `-Hx` and `--exec=` are not read.
  const isElsewhere = program !== 'find' && words.some(({ text }) => /^-[^-]*C|^--base-d/.test(text));
  if (program !== 'find' && words.some(({ text }) => /^-[^-]*[xX]|^--exec/.test(text) && !option.test(text)))
    return hidden(program);
  const last = words.findLastIndex(({ text }) => option.test(text));
  for (const [index, { kind, pieces, isSplit, value }] of words.entries()) {
    // A word that becomes an option makes the next one a program, and one that becomes `;` ends a command.
    const isFollowed = isSplit || index < last || /^[^-(!]/.test(words[index + 1]?.text ?? '');
    const isOption = kind === 'computed' || RUN_OPTIONS.some((each) => matchesStars(pieces, each));
    if (kind !== 'fixed' && isFollowed && isOption) reader.facts.need('plain', value);
  }
  for (let at = 1; at < words.length; at += 1) {
    if (!option.test(words[at]?.text ?? '')) continue;
    let end = at + 1;
    while (end < words.length && !/^[;+]$/.test(words[end]?.text ?? '')) end += 1;
    const run = words.slice(at + 1, end);
    const filled = run.map((word) =>
      word.text.includes('{') ? computedWord(word.text, word.text.split(/\{[^}]*\}/)) : word,
    );
    const command = innerCommand(filled.length === 0 ? [computedWord('')] : filled, reader);
    inner.push(isElsewhere || words[at]?.text.endsWith('dir') === true ? moved(command) : command);
    at += run.length;
  }
  return { role: 'program', inner };
}
