/** The files that a statement starts as programs. */
import type { Language } from './split-code.ts';

const INTERPRETER = String.raw`(?:[\w./-]{0,60}\/)?(?:(?:ba|z|da|k)?sh|python[\d.]{0,4}|node|bun|deno run|perl|ruby|php|osascript|pwsh|powershell)`;
const BEFORE = String.raw`(?:(?:sudo|nohup|exec|env|setsid|command|time|then|do|else|open|start|xargs)(?: -\w{1,8})* |\( ?|\{ )*`;
/** The program of a shell command: what it names first, or after an interpreter, `source` or `.`. */
const SHELL_PROGRAM = new RegExp(
  String.raw`^${BEFORE}(?:(?:${INTERPRETER}|source|\.)(?: -[\w-]{1,20})* {1,4})?([\w~./$\{\}-]{1,200})`,
  'i',
);
/** The first argument of what starts a program; after an interpreter the second. */
const STARTED =
  /\b(?:subprocess\.\w{1,20}|Popen|os\.(?:system|popen|exec\w{1,3}|spawn\w{1,3}|startfile)|create_subprocess_(?:shell|exec)|child_process\.\w{1,20}|(?<![\w.])(?:exec|spawn|execFile|fork)(?:Sync)?|Bun\.spawn\w{0,4}|Deno\.Command)\( ?[[(]? ?(?:\ue000(\d+)\ue001|sys\.executable|process\.execPath)?[ ,+[({]{0,6}([A-Za-z_$][\w$]{0,80})?/g;

const ONLY_INTERPRETER = new RegExp(
  String.raw`^(?:${BEFORE})?(?:${INTERPRETER}|chmod \S{1,8}|\/?)(?: -\w{1,8})? ?$`,
  'i',
);

export interface Programs {
  readonly names: readonly string[];
  /** Words of commands, which can be paths or variables. */
  readonly words: readonly string[];
}

const NONE: Programs = { names: [], words: [] };

export function findPrograms(code: string, language: Language, valueAt: (index: number) => string): Programs {
  // The rest of a pipe is rarely a program of the skill, and often the argument of a filter.
  if (language === 'shell') return { names: [], words: programsIn(code.split('|', 1)[0] ?? '') };
  const found = [...code.matchAll(STARTED)];
  if (found.length === 0) return NONE;
  return {
    names: found.flatMap(([, index, name]) =>
      name !== undefined && (index === undefined || ONLY_INTERPRETER.test(valueAt(Number(index)))) ? [name] : [],
    ),
    words: found.flatMap(([, index]) => (index === undefined ? [] : programsIn(valueAt(Number(index))))),
  };
}

const DATA = /\.(?:md|txt|json|ya?ml|csv|html?|png|jpe?g|svg|pdf|zip|gz|tgz|tar|xz|whl|log|mp[34])$/i;

function programsIn(commands: string): readonly string[] {
  return commands
    .slice(0, 4_000)
    .split(/[;&|]+/)
    .map((command) => SHELL_PROGRAM.exec(command.trim())?.[1] ?? '')
    .filter((word) => /[./$]/.test(word) && !DATA.test(word));
}
