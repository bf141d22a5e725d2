/**
 * Reads a shell line into every command that it may run: in lists, pipelines, loops, functions, substitutions, here-documents and arithmetic,
 * and behind programs that run other command lines. What cannot be known before it runs is marked, never guessed.
 */
import {
  forEachChild,
  parse,
  type Assignment,
  type Command,
  type ParsedScript,
  type SyntaxNode,
  type Word,
} from 'unbash';
import {
  NO_VARIABLES,
  commandWord,
  computedWord,
  type CommandWord,
  type SimpleCommand,
  type Unclear,
  type Variables,
  type CommandLine,
} from './command-words.ts';
import { simpleCommand, startsShell } from './command-wrappers.ts';

const MAX_LENGTH = 128 * 1024;
const MAX_COMMANDS = 2_000;
/** The parser needs quadratic time for brackets that stay open. */
const MAX_OPEN_BRACKETS = 64;
/** Maximum nesting of lines in lines: `sh -c "sh -c …"`. */
const MAX_DEPTH = 8;

export interface LineContext {
  /** Variables that only the runtime sets; the value of any other variable is unknown. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

export function readCommandLine(text: string, { variables = {}, env = {} }: LineContext = {}): CommandLine {
  const assignments = Object.entries(env);
  const code = assignments.find(
    ([name, value]) =>
      /[^\w]/.test(name) || (UNEXPANDED.test(value) && (EXPANDED_AGAIN.has(name) || EVALUATES.test(text))),
  );
  if (code !== undefined) return unclear(`the shell may run the value of the variable ${code[0]}`);
  const own = Object.fromEntries(Object.entries(variables).filter(([name]) => !Object.hasOwn(env, name)));
  const line = readLine(text, knownVariables(text, own), 0);
  return line.type === 'unclear' || assignments.length === 0
    ? line
    : { ...line, variables: [...new Set([...assignments.map(([name]) => name), ...line.variables])] };
}

/** Signs of arithmetic, indices and indirect names, which evaluate the value of a variable. */
const EVALUATES = /\(\(|\$\[|\[|@|!|:|\b(?:let|declare|typeset|local|read|unset|test)\b/;

function readLine(text: string, variables: Variables, depth: number): CommandLine {
  if (depth > MAX_DEPTH) return unclear('it nests command lines too deeply');
  if (text.length > MAX_LENGTH) return unclear('it is longer than 128 KiB; put it into a script');
  // Bash drops NUL, and an unpaired surrogate is not the character that the parser sees.
  if (/\0|\p{Cs}/u.test(text)) return unclear('it contains characters that have no encoding');
  if (openBrackets(text) > MAX_OPEN_BRACKETS) return unclear('it nests brackets too deeply; put it into a script');
  const script = parse(text);
  const walk = openWalk(text, script, { variables, depth });
  walk.visit(script);
  return walk.end();
}

/** The most brackets that are open at any place, quoted or not. */
function openBrackets(text: string): number {
  let open = 0;
  let most = 0;
  for (const bracket of text.match(/[(){}]/g) ?? []) {
    open = Math.max(0, open + (bracket === '(' || bracket === '{' ? 1 : -1));
    most = Math.max(most, open);
  }
  return most;
}

function unclear(reason: string): Unclear {
  return { type: 'unclear', reason };
}

/** A variable counts only if nothing in the line may set it. */
function knownVariables(text: string, variables: Readonly<Record<string, string>>): Variables {
  if (!text.includes('$') || SETS_BY_NAME.test(text)) return NO_VARIABLES;
  const isSet = (name: string): boolean => new RegExp(String.raw`(?<![$\w]|\$\{)${name}\b`).test(text);
  return new Map(Object.entries(variables).filter(([name]) => text.includes(name) && !isSet(name)));
}

const SETS_BY_NAME =
  /\b(?:eval|source|read|mapfile|readarray|getopts|declare|typeset|local|export|readonly|unset|let|printf[ \t]+-v)\b|(?:^|[\s;&|(])\.[ \t]/;

/** Variables whose value the shell expands again. */
const EXPANDED_AGAIN: ReadonlySet<string> = new Set(['PS0', 'PS1', 'PS2', 'PS4', 'PROMPT_COMMAND', 'BASH_ENV', 'ENV']);
/** Builtins that evaluate an index such as `a[$(..)]` in the name of a variable, or text as arithmetic. */
const EVALUATING: ReadonlySet<string> = new Set(
  'declare typeset local export readonly let read unset getopts mapfile readarray printf test [ wait'.split(' '),
);
const MOVING: ReadonlySet<string> = new Set(['cd', 'pushd', 'popd']);
/** Text that would run a command if the shell expanded it, or the start of such text. */
const UNEXPANDED = /\$(?:$|[({'"])|`/;
/** Escapes of `$'…'` that every shell and the parser read alike: not `\\x{3b}`, `\\cA` and NUL, where the text ends for bash. */
const PLAIN_ESCAPES =
  /^\$'(?:[^\\]|\\(?:[abeEfnrtv\\'"?]|x(?!00)[0-7][\da-fA-F]|(?!000)[01][0-7]{2}|u(?!0000)[\da-fA-F]{4}))*'$/;
/** What a word without quotes and without parts cannot contain. */
const MISSED = /\$[({[]|`|[<>]\(/;
const FINDS = /(?:^|\/)(?:find|fd|fdfind)$/;
const RUN_OPTION = /(?:^|\s)-(?:exec|ok|-exec|x|X)/;
const ARITHMETIC_TEST = /^-(?:eq|ne|lt|le|gt|ge)$/;
const NO_FILE = /^(?:\/dev\/(?:null|stdout|stderr|tty)|\d+-?|-)$/;

interface Walk {
  visit(node: SyntaxNode): void;
  end(): CommandLine;
}

interface WalkContext {
  readonly variables: Variables;
  readonly depth: number;
}

function openWalk(text: string, script: ParsedScript, { variables, depth }: WalkContext): Walk {
  const commands: { readonly command: SimpleCommand; readonly pos: number }[] = [];
  const functions = findFunctions(text, script);
  const hasSigns = /[$`]/.test(text);
  const hasFinder = /\b(?:find|fd|fdfind)\b/.test(text);
  const writes: string[] = [];
  const names: string[] = [];
  let problem: string | undefined;
  let evaluates = false;
  let hasUnexpanded = false;
  let repeats = false;
  /** Words that could become an option with which `find` runs a program, besides those that it has already. */
  let runOptions = 0;
  let isFindOpen = false;
  let changesPath = false;
  let movesAt = Number.POSITIVE_INFINITY;

  const read = (word: Word): CommandWord => commandWord(word, variables);

  function addCommand(command: Command): void {
    const { name, args } = command;
    if (name === undefined) return;
    const words = [read(name), ...args.map((arg) => (arg.type === 'Word' ? read(arg) : assignmentWord(arg, read)))];
    const program = words[0]?.text ?? '';
    if (EVALUATING.has(program)) evaluates = true;
    changesPath ||= mayNamePath(words);
    if (hasFinder && FINDS.test(program)) {
      runOptions -= words.filter(({ text }) => RUN_OPTION.test(text)).length;
      isFindOpen ||= words.some(({ kind, isSplit }) => kind === 'computed' && isSplit);
    }
    if (commands.length > MAX_COMMANDS) problem = 'it has too many commands; put them into a script';
    else {
      const simple = simpleCommand(words, {
        depth,
        stdin: findStdin(command),
        readLine: (line) => {
          const inner = readLine(line, NO_VARIABLES, depth + 1);
          changesPath ||= inner.type === 'commands' && inner.variables.includes('PATH');
          return inner;
        },
        isFunction: (called) => command.pos > (functions.get(called) ?? Number.POSITIVE_INFINITY),
      });
      if (isMoving(simple)) movesAt = Math.min(movesAt, command.pos);
      commands.push({ command: simple, pos: command.pos });
    }
  }

  function note(node: SyntaxNode): void {
    switch (node.type) {
      case 'Script':
        if (node.errors !== undefined && node.errors.length > 0) problem ??= syntaxProblem(node.errors[0]?.message);
        return;
      case 'Command':
        addCommand(node);
        return;
      case 'Redirect': {
        const target = node.target === undefined ? undefined : read(node.target);
        if (target === undefined) problem ??= syntaxProblem('a redirection has no target');
        else if (node.operator !== '<' && node.operator !== '<&' && !NO_FILE.test(target.text))
          writes.push(target.text);
        return;
      }
      case 'HereDocBody':
        // The parts of a body that is not quoted are visited on their own.
        if (node.parts === undefined && UNEXPANDED.test(node.text)) hasUnexpanded = true;
        return;
      case 'AnsiCQuoted':
        if (!PLAIN_ESCAPES.test(node.text)) problem ??= syntaxProblem("an escape in $'…' cannot be read");
        if (UNEXPANDED.test(node.value)) hasUnexpanded = true;
        return;
      case 'Literal':
      case 'SingleQuoted':
        if (hasSigns && UNEXPANDED.test(node.value)) hasUnexpanded = true;
        return;
      case 'ArithmeticWord':
        // Arithmetic expands what is quoted or escaped in it.
        if (node.parts === undefined && UNEXPANDED.test(node.value)) hasUnexpanded = true;
        return;
      case 'Word':
        // The parser reads `a=(x $(cmd))y` as one plain word.
        if (node.parts === undefined && node.text === node.value && MISSED.test(node.text))
          problem ??= syntaxProblem('an expansion cannot be read');
        if (hasFinder && RUN_OPTION.test(node.value)) runOptions += 1;
        if (hasSigns && read(node).pieces.some((piece) => UNEXPANDED.test(piece))) hasUnexpanded = true;
        return;
      case 'CommandExpansion':
      case 'ProcessSubstitution':
      case 'ArithmeticCommandExpansion':
        if (node.script === undefined) problem ??= syntaxProblem('a substitution cannot be read');
        return;
      case 'ArithmeticExpansion':
      case 'ArithmeticCommand':
      case 'ArithmeticFor':
        evaluates = true;
        repeats ||= node.type === 'ArithmeticFor';
        return;
      case 'ParameterExpansion':
        if (node.operation?.type === 'Unknown') problem ??= syntaxProblem('an expansion cannot be read');
        if (node.prefix === '!' || node.index !== undefined || EVALUATED_OPERATIONS.has(node.operation?.type ?? ''))
          evaluates = true;
        return;
      case 'TestUnary':
        evaluates ||= node.operator === '-v' || node.operator === '-R';
        return;
      case 'TestBinary':
        evaluates ||= ARITHMETIC_TEST.test(node.operator);
        return;
      case 'Assignment':
        names.push(node.name);
        changesPath ||= node.name === 'PATH';
        evaluates ||= node.index !== undefined || EXPANDED_AGAIN.has(node.name);
        return;
      case 'For':
      case 'Select':
        changesPath ||= node.name.value === 'PATH';
        repeats = true;
        return;
      case 'While':
      case 'Function':
        repeats = true;
        return;
      default:
    }
  }

  function visit(node: SyntaxNode): void {
    if (problem !== undefined) return;
    note(node);
    forEachChild(node, visit);
  }

  return {
    visit,
    end() {
      if (evaluates && hasUnexpanded) problem ??= 'the shell may evaluate quoted text that contains $( ) or backticks';
      if (isFindOpen && runOptions > 0) problem ??= 'find may get an option that runs a program from a variable';
      if (/\b(?:BASH_)?ENV\b/.test(text)) problem ??= startupProblem(text, commands);
      if (problem !== undefined) return unclear(problem);
      const from = repeats && Number.isFinite(movesAt) ? 0 : movesAt;
      const placed = commands.map(({ command, pos }) => (pos > from || from === 0 ? moved(command) : command));
      return {
        type: 'commands',
        commands: changesPath ? placed.map(renamed) : placed,
        writes,
        variables: [...new Set(changesPath ? [...names, 'PATH'] : names)],
      };
    },
  };
}

/** A shell that the line starts may run a file before its commands. */
function startupProblem(text: string, commands: readonly { readonly command: SimpleCommand }[]): string | undefined {
  const started = commands.map(({ command }) => startsShell(command));
  const isRead = /\bBASH_ENV\b/.test(text) ? started.some((each) => each !== 'no') : started.includes('interactive');
  return isRead ? 'a shell in it runs the file that the variable BASH_ENV or ENV names' : undefined;
}

const EVALUATED_OPERATIONS: ReadonlySet<string> = new Set(['Slice', 'Transform']);

function syntaxProblem(message = 'it is not valid shell syntax'): string {
  return `the shell line cannot be read: ${message}`;
}

/** Functions that are defined for everything after them, by name, with the end of their definition. */
function findFunctions(text: string, { commands }: ParsedScript): ReadonlyMap<string, number> {
  if (/\bunset\b/.test(text)) return new Map();
  return new Map(
    commands.flatMap(({ command, background }): [string, number][] =>
      command.type === 'Function' && background !== true && !/['"\\$`]/.test(command.name.text)
        ? [[command.name.value, command.end]]
        : [],
    ),
  );
}

/** `x=value` as an argument of `export` and similar builtins. */
function assignmentWord({ name, text, value }: Assignment, read: (word: Word) => CommandWord): CommandWord {
  if (value.type !== 'Word') return computedWord(text);
  const word = read(value);
  const start = text.slice(0, text.indexOf('=') + 1) || `${name}=`;
  const [first = '', ...rest] = word.pieces;
  return { ...word, text: start + word.text, pieces: [start + first, ...rest], isSplit: false };
}

/** What a command reads from stdin, if the line shows it. */
function findStdin({ redirects }: Command): string | undefined {
  const last = redirects.findLast(
    ({ descriptor, operator }) =>
      (descriptor === undefined || (descriptor.type === 'FileDescriptor' && descriptor.value === 0)) &&
      operator.startsWith('<'),
  );
  if (last?.type === 'HereDoc') return isFixedBody(last) ? last.body.text : undefined;
  if (last?.type !== 'HereString' || last.target === undefined) return undefined;
  const word = commandWord(last.target, NO_VARIABLES);
  return word.kind === 'fixed' ? word.text : undefined;
}

function isFixedBody({ delimiter, body }: Extract<Command['redirects'][number], { type: 'HereDoc' }>): boolean {
  return delimiter?.quoted === true || !/[\\$`]/.test(body.text);
}

function isMoving({ words, inner }: SimpleCommand): boolean {
  return MOVING.has(words[0]?.text ?? '') || inner.some(isMoving);
}

function moved(command: SimpleCommand): SimpleCommand {
  return { ...command, isMoved: true, inner: command.inner.map(moved) };
}

/** Builtins whose words name variables that they set. */
const NAMING: ReadonlySet<string> = new Set(
  'declare typeset local export readonly let read unset getopts mapfile readarray printf'.split(' '),
);

/** Whether a command may set or unset `PATH` by a word: `export PATH=x`, `read PATH`, `declare -n r=PATH`, `env PATH=x git`. */
function mayNamePath([first, ...rest]: readonly CommandWord[]): boolean {
  const program = first?.text ?? '';
  if (/(?:^|\/)(?:env|sudo)$/.test(program)) return rest.some(({ text }) => /(?:^|\s)PATH=/.test(text));
  if (!NAMING.has(program)) return false;
  return rest.some(({ kind, text, pieces: [start = ''] }, index) =>
    kind === 'fixed'
      ? /(?:^(?:-\w*v)?|=)PATH(?:\+?=|$)/.test(text)
      : // The words of printf are text, apart from the one behind -v.
        (program !== 'printf' || rest[index - 1]?.text === '-v') && 'PATH'.startsWith(start),
  );
}

function renamed(command: SimpleCommand): SimpleCommand {
  const { words, inner, role, hides = 'the line changes PATH, so that a name may mean another program' } = command;
  const [first] = words;
  return {
    ...command,
    isRenamed: true,
    ...(role === 'shell' || first === undefined ? {} : { hides }),
    inner: inner.map(renamed),
  };
}
