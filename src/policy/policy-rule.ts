import {
  collisionKey,
  compileGlob,
  findGrant,
  isToolPattern,
  quoted,
  readHostPattern,
  type HostPattern,
  type Decision,
  isProblem,
} from '#core';
import { fixedWord, type SimpleCommand } from './command/command-words.ts';
import { matchesLine, type Match } from './command/command-match.ts';
import { firstUncovered, readCommandPattern, type CommandPattern } from './command/command-pattern.ts';
import type { Access } from './access.ts';
import { actionsOfTool, actionsOfTools, PATTERN_KINDS, type PatternKind } from './tool-names.ts';

type Glob = ReturnType<typeof compileGlob>;

/** A parsed rule such as `run_command(git status:*)`. */
export interface PolicyRule {
  readonly effect: Decision['effect'];
  readonly text: string;
  readonly origin: Decision['origin'];
  readonly tools: readonly string[];
  readonly pattern?: Glob;
  /** Absent: the rule covers every use of the tool. */
  readonly subjects?: SubjectPattern;
  /** Matches every path that a rule with the same family matches, so that one test rules out all of them. */
  readonly family?: Pick<Glob, 'matches'>;
}

type SubjectPattern =
  | { readonly kind: 'command'; readonly pattern: CommandPattern }
  | { readonly kind: 'path' | 'skill'; readonly globs: readonly Glob[]; readonly anyCase: boolean }
  | { readonly kind: 'host'; readonly host: HostPattern; readonly below: boolean };

export interface RuleProblem {
  readonly problem: string;
}

/** Base of patterns that start with `~`. */
export interface RuleContext {
  readonly home?: string | undefined;
}

export function readRule(
  text: string,
  {
    effect,
    origin,
    places = {},
  }: { readonly effect: Decision['effect']; readonly origin: Decision['origin']; readonly places?: RuleContext },
): PolicyRule | RuleProblem {
  const trimmed = text.trim();
  if (!isToolPattern(trimmed)) return { problem: `${quoted(text)} is not a rule; write a tool, or tool(pattern)` };
  const open = trimmed.indexOf('(');
  const name = open === -1 ? trimmed : trimmed.slice(0, open);
  const inside = open === -1 ? '' : trimmed.slice(open + 1, -1).trim();
  const rule = { effect, text: trimmed, origin };
  if (name.includes('*')) {
    if (inside !== '') return { problem: `${quoted(text)} has a pattern, but matches several tools` };
    const pattern = compileGlob(name);
    return { ...rule, tools: actionsOfTools(pattern, effect), pattern };
  }
  const tools = actionsOfTool(name, effect);
  if (inside === '' || inside === '*') return { ...rule, tools };
  const subjects = readSubjects(PATTERN_KINDS.get(tools[0] ?? '') ?? 'none', inside, effect, places);
  return 'problem' in subjects ? subjects : { ...rule, tools, subjects };
}

export function isRule(read: PolicyRule | RuleProblem): read is PolicyRule {
  return 'effect' in read;
}

function readSubjects(
  kind: PatternKind,
  text: string,
  effect: Decision['effect'],
  places: RuleContext,
): SubjectPattern | RuleProblem {
  switch (kind) {
    case 'command': {
      const pattern = readCommandPattern(text);
      return 'problem' in pattern ? pattern : { kind, pattern };
    }
    case 'path':
      return readPathPattern(text, effect, places);
    case 'host': {
      const host = readHostPattern(text.replace(/^domain:/, ''));
      return isProblem(host) ? { problem: host.message } : { kind, host, below: effect !== 'allow' };
    }
    case 'packages':
    case 'skill':
    case 'script': {
      // A name alone matches the skill with all of its scripts.
      const whole = kind === 'script' && !text.includes('/') ? `${text}/**` : text;
      return { kind: 'skill', globs: [compileGlob(whole, { hidden: true })], anyCase: false };
    }
    case 'none':
      return { problem: `this tool takes no pattern in parentheses: ${quoted(text)}` };
  }
}

/**
 * Allow rules match exactly. Deny and ask rules match generously: hidden names, any letter case, any depth if there is no slash, and for
 * `folder/**` the folder itself, because it can be listed and searched.
 */
function readPathPattern(
  text: string,
  effect: Decision['effect'],
  { home }: RuleContext,
): SubjectPattern | RuleProblem {
  if (/(?:^|\/)\.\.(?:\/|$)/.test(text)) return { problem: `${quoted(text)} contains ".."` };
  const isStrict = effect === 'allow';
  let pattern = text.startsWith('./') ? text.slice(2) : text.replace(/^\/\//, '/');
  if (pattern === '~' || pattern.startsWith('~/')) {
    if (home === undefined) return { problem: `${quoted(text)} needs a home folder, which is not set` };
    pattern = `${home}${pattern.slice(1)}`;
  }
  if (pattern.endsWith('/')) pattern = `${pattern}**`;
  const folder = /^(.+)\/\*\*$/s.exec(pattern)?.[1];
  const spellings = [
    pattern,
    ...(isStrict || pattern.includes('/') ? [] : [`**/${pattern}`]),
    ...(isStrict || folder === undefined ? [] : [folder]),
  ];
  const globs = spellings.map((spelling) =>
    compileGlob(isStrict ? spelling : spelling.normalize('NFKC').toLowerCase(), {
      hidden: !isStrict || spelling.endsWith('**'),
    }),
  );
  return { kind: 'path', globs, anyCase: !isStrict };
}

export function appliesToTool({ tools, pattern }: PolicyRule, tool: string): boolean {
  return tools.includes(tool) || pattern?.matches(tool) === true;
}

/** Whether a rule for this tool matches this use. A line of several commands is checked command by command for allow rules. */
export function matchesAccess(rule: PolicyRule, { subject }: Access, names = listSubjectNames(subject)): Match {
  const { subjects, effect } = rule;
  if (subjects === undefined) return 'yes';
  if (subjects.kind === 'command') return matchesCommand(subjects.pattern, subject, effect);
  if (subjects.kind === 'host') return subject.kind === 'host' ? matchIf(matchesHost(subjects, subject)) : 'no';
  const isNamed = (name: string): boolean => subjects.globs.some((glob) => glob.matches(name));
  const asked = subjects.anyCase ? names.lower : names.exact;
  // Every package has to be allowed; one that is denied is enough.
  return matchIf(subject.kind === 'packages' && effect === 'allow' ? asked.every(isNamed) : asked.some(isNamed));
}

function matchIf(isMeant: boolean): Match {
  return isMeant ? 'yes' : 'no';
}

function matchesCommand(pattern: CommandPattern, subject: Access['subject'], effect: Decision['effect']): Match {
  if (subject.kind === 'script') {
    const { isUnisolated = false } = subject;
    const lines = scriptCommands(subject);
    const isMatch = (command: SimpleCommand): boolean =>
      effect === 'allow'
        ? firstUncovered([pattern], [command], { isUnisolated }) === undefined
        : matchesLine(pattern, { type: 'commands', commands: [command], writes: [], variables: [] }) === 'yes';
    return matchIf(lines.some(isMatch));
  }
  if (subject.kind !== 'command') return 'no';
  if (effect !== 'allow') return matchesLine(pattern, subject.line);
  return matchIf(couldCover(pattern, subject.programs) && missedCommand([pattern], subject) === undefined);
}

/** The first command that none of the patterns covers; `line` if that is no single command. */
export function missedCommand(
  patterns: readonly CommandPattern[],
  { line, isContained, isElsewhere, isUnisolated }: Extract<Access['subject'], { kind: 'command' }>,
): SimpleCommand | 'line' | undefined {
  if (line.type === 'unclear') return 'line';
  // A variable can change what a program runs. That matters where the program reaches something.
  if (line.variables.length > 0 && !isContained) return 'line';
  return firstUncovered(patterns, line.commands, { isElsewhere, isUnisolated, targets: line.targets });
}

/** Fast path: most patterns start with the name of another program. */
export function couldCover({ words }: CommandPattern, programs: readonly string[]): boolean {
  const first = words[0];
  const name = first?.[0] ?? '';
  return (
    first?.length !== 1 ||
    name === '' ||
    name.includes('/') ||
    programs.some((program) => program.startsWith(name) || program === '.')
  );
}

const INTERPRETERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['py', ['python', 'python3', 'uv run']],
  ['sh', ['bash', 'sh']],
  ['bash', ['bash']],
  ['js', ['node']],
  ['mjs', ['node']],
  ['cjs', ['node']],
  ['ts', ['node', 'npx tsx', 'bun', 'deno run']],
  ['rb', ['ruby']],
  ['pl', ['perl']],
  ['php', ['php']],
]);

/** Command lines that are equivalent to running a script, because `Bash` rules are written that way. */
function scriptCommands({ script, args }: Extract<Access['subject'], { kind: 'script' }>): readonly SimpleCommand[] {
  const extension = script.slice(script.lastIndexOf('.') + 1);
  const starts = [[`./${script}`], [script]];
  for (const interpreter of INTERPRETERS.get(extension) ?? []) starts.push([...interpreter.split(' '), script]);
  return starts.map((words) => ({
    words: [...words, ...args].map(fixedWord),
    role: 'program',
    inner: [],
    mentions: [],
    isMoved: false,
  }));
}

function matchesHost(
  { host, below }: { readonly host: HostPattern; readonly below: boolean },
  subject: Access['subject'],
): boolean {
  if (subject.kind !== 'host') return false;
  const requested = subject.host;
  if (requested === undefined) return below;
  if (findGrant([host], requested, below ? undefined : subject.port) !== undefined) return true;
  return below && !requested.isAddress && requested.name.endsWith(`.${host.host}`);
}

/** Names that patterns are matched against, as written and in lower case. */
export interface SubjectNames {
  readonly exact: readonly string[];
  readonly lower: readonly string[];
}

export function listSubjectNames(subject: Access['subject']): SubjectNames {
  const exact = exactNames(subject);
  return { exact, lower: exact.flatMap(listSpellings) };
}

/** Some file systems take differently composed or written names for one. */
function listSpellings(name: string): readonly string[] {
  const lower = name.toLowerCase();
  const key = collisionKey(name);
  return key === lower ? [lower] : [lower, key];
}

function exactNames(subject: Access['subject']): readonly string[] {
  switch (subject.kind) {
    case 'path':
      return [subject.path, ...(subject.absolute === undefined ? [] : [subject.absolute]), ...(subject.also ?? [])];
    case 'script':
      return [`${subject.skill}/${subject.script}`];
    case 'packages':
      return subject.names;
    case 'secret':
      return [subject.name];
    case 'skill':
      return [subject.name, subject.id];
    default:
      return [];
  }
}
