/** Links statements by names, functions, files and programs: the graph through which data flows. */
import { findPrograms } from './programs.ts';
import { ADDS, PUSHES, SENDING_METHOD, withoutNamingOptions, withoutOptions, type Act } from './marks.ts';
import {
  assignedNames,
  splitAssignment,
  type FlowFunction,
  type FlowStatement,
  type Scope,
  type Unit,
} from './read-units.ts';
import { hasSocket, type MarkedStatement, type Marks } from './read-marks.ts';
import type { Strings } from './split-code.ts';

interface Use {
  readonly key: string;
  /** One entry of it is selected by name. */
  readonly isSelected: boolean;
}

export interface Node {
  readonly statement: FlowStatement;
  readonly uses: readonly Use[];
  readonly direct: Marks;
  readonly acts: ReadonlySet<Act>;
  /** Keys that get what the statement holds. */
  readonly to: readonly string[];
  /** Arguments of functions of the skill, with the keys of their parameters. */
  readonly calls: readonly { readonly uses: readonly Use[]; readonly to: string; readonly isFile?: true }[];
  /** Keys of the files that it writes, and of names for them. */
  readonly written: readonly string[];
  /** Names whose sending methods it calls. */
  readonly sendersCalled: readonly string[];
  /** Keys of what it starts as a program. */
  readonly programs: readonly string[];
  readonly strings: readonly string[];
}

export interface Graph {
  readonly strings: Strings;
  readonly unitsByName: ReadonlyMap<string, readonly Unit[]>;
  readonly links: ReadonlyMap<Unit, Links>;
}

/** What the imports of a unit are in other units of the skill. */
interface Links {
  /** By local name. */
  readonly names: ReadonlyMap<string, readonly { readonly unit: Unit; readonly name: string }[]>;
  /** Whole modules by local name. */
  readonly modules: ReadonlyMap<string, readonly Unit[]>;
  /** Sourced by a shell: all their names. */
  readonly all: readonly Unit[];
}

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

export function groupByName(units: readonly Unit[]): ReadonlyMap<string, readonly Unit[]> {
  const found = new Map<string, Unit[]>();
  for (const unit of units.filter(({ isFence }) => !isFence)) {
    const name = baseName(unit.file.path);
    for (const one of new Set([name, name.replace(/\.\w+$/, '')])) found.set(one, [...(found.get(one) ?? []), unit]);
  }
  return found;
}

const scopeKey = ({ id }: Unit, scope: Scope, name: string): string => `${String(id)}/${String(scope.id)}/${name}`;

export function linkUnit(unit: Unit, unitsByName: Graph['unitsByName']): Links {
  const names = new Map<string, readonly { readonly unit: Unit; readonly name: string }[]>();
  const modules = new Map<string, readonly Unit[]>();
  const all: Unit[] = [];
  for (const { local, module, name } of unit.imports) {
    const others = (unitsByName.get(moduleFile(module)) ?? []).filter((one) => one !== unit);
    if (others.length === 0) continue;
    if (local === '*') all.push(...others);
    else if (name === '*' || name === 'default') modules.set(local, others);
    names.set(
      local,
      others.map((other) => ({ unit: other, name: name === '*' || name === 'default' ? local : name })),
    );
  }
  return { names, modules, all };
}

/** The key of a name: that of the innermost scope that has it, or of an imported module. */
function keyFor(name: string, { unit, scope }: FlowStatement, { links }: Graph): string {
  const link = links.get(unit);
  const [imported] = link?.names.get(name) ?? [];
  if (imported !== undefined) return `${String(imported.unit.id)}/0/${imported.name}`;
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent)
    if (at.names.has(name)) return scopeKey(unit, at, name);
  return `${String((link?.all[0] ?? unit).id)}/0/${name}`;
}

/** `pkg.collect`, `./lib/collect.js` and `../collect` are the file `collect`. */
function moduleFile(module: string): string {
  const last = baseName(module);
  return /\.(?:m?js|cjs|ts|py|sh|bash)$/.test(last) ? last : (last.split('.').at(-1) ?? last);
}

const KEYWORD = /([(,{] ?)[\w$]{1,60} ?(?:=(?![=>])|:(?!:))/g;
const IDENTIFIER = /(?<![\w$.])([A-Za-z_$][\w$]*)(\.[A-Za-z_]\w*(?!\w*\()|\[ ?\ue000|\.(?:get|pop)\( ?\ue000)?/g;
const PASSED_ON = /^\.(?:text|content|stdout|stderr|body|data|buffer|value)$/;

function usesIn(code: string, statement: FlowStatement, graph: Graph): readonly Use[] {
  if (statement.unit.language === 'shell')
    return [...withoutNamingOptions(code).matchAll(/\$\{?([A-Za-z_]\w{0,80}|[1-9@*])/g)].map(([, name = '']) => ({
      key: keyFor(/^[1-9@*]$/.test(name) ? '@' : name, statement, graph),
      isSelected: false,
    }));
  const bare = withoutOptions(code).replaceAll(KEYWORD, '$1');
  const uses = [...bare.matchAll(IDENTIFIER)].map(([, name = '', selection]) => ({
    key: keyFor(name, statement, graph),
    isSelected: selection !== undefined && !PASSED_ON.test(selection),
  }));
  const modules = graph.links.get(statement.unit)?.modules;
  if (modules === undefined || modules.size === 0) return uses;
  const members = [...bare.matchAll(/(?<![\w$.])([A-Za-z_$][\w$]*)\.(\w{1,80})/g)].flatMap(
    ([, base = '', member = '']) => (modules.get(base) ?? []).map((unit) => toUse(`${String(unit.id)}/0/${member}`)),
  );
  return [...uses, ...members];
}

const PATH_TEXT = /^[\w~$.{}\\/-]{3,200}$/;

/** Paths in strings, or words of a shell command, as keys. */
function fileKeys(texts: readonly string[]): readonly string[] {
  return texts
    .filter((text) => PATH_TEXT.test(text) && /[./]/.test(text) && !/^(?:https?:|\/dev\/)/.test(text))
    .map(baseName)
    .filter((name) => name.length >= 2)
    .map((name) => `file:${name}`);
}

const INPUT: Readonly<Record<Unit['language'], RegExp>> = {
  python: /\bsys\.(?:argv|stdin)\b|(?<![\w.])input\(|\bparse_args\(/,
  javascript: /\bprocess\.(?:argv|stdin)\b|\breadFileSync\(0/,
  shell: /\$[1-9@*]|\$\{[1-9@*]|\bread\b|\bcat -(?: |$)|@-/,
};
const ENVIRONMENT_ENTRY = /\b(?:os\.environ|process\.env)\.(\w{1,80})|\b(?:getenv|environ\.get)\( ?\ue000(\d+)\ue001/g;
const MUTATES =
  /(?<![\w$.])([A-Za-z_$][\w$]*)(?:\.\w{1,40}){0,2}\.(?:append|push|extend|update|add|insert|unshift|read|read_file|write|writelines|writestr|set|set_content|attach|put|put_nowait|concat|appendChild|addHandler)\(/g;
/** The variables of this process: to set one changes nothing else of the module that they belong to. */
const OF_PROCESS = /\b(?:os\.environ|process\.env)\b/g;
const DUMPS = /\.(?:dump|copy|copy2|copyfile|copyfileobj|add|write)\(/;
export function toNode({ statement, direct, acts, texts, words }: MarkedStatement, graph: Graph): Node {
  const { unit, scope, code, left, right } = statement;
  const { language } = unit;
  const isShell = language === 'shell';
  const uses = [
    ...usesIn(right, statement, graph),
    ...(statement.written === code ? [] : usesIn(assignedPart(statement), statement, graph)),
  ];
  const to = assignedNames(left.replaceAll(/(?<=[\w$)\]])\[[^\]]*\]/g, '').replace(OF_PROCESS, '')).map((name) =>
    keyFor(name, statement, graph),
  );
  const files = fileKeys(words);
  if (isShell || acts.has('read') || acts.has('send') || acts.has('start')) uses.push(...files.map(toUse));
  const isWriteMode = texts.some((text) => /^[wax]b?\+?$/.test(text)) || code.includes('createWriteStream(');
  const calls: Node['calls'][number][] = [...readCalls(statement, graph)];
  // A temporary file is written through its handle and used by its name.
  const [handle, temporary] = /\bmkstemp\(/.test(right) ? to : [];
  if (handle !== undefined && temporary !== undefined)
    calls.push({ uses: [toUse(handle)], to: temporary, isFile: true });
  if (isWriteMode) {
    const opened = writtenNames(code, { isShell, isWriteMode }).map((name) => keyFor(name, statement, graph));
    calls.push(...[...files, ...opened].map((file) => ({ uses: to.map(toUse), to: file, isFile: true as const })));
  }
  const written = writtenNames(code, { isShell, isWriteMode }).map((name) => keyFor(name, statement, graph));
  if (acts.has('write') || isWriteMode || (isShell && direct.has('remote'))) written.push(...files);
  if (acts.has('write') || isWriteMode) to.push(...files);
  const programs = findPrograms(code, language, (index) => graph.strings[index] ?? '');
  const own = baseName(unit.file.path);
  if (INPUT[language].test(code)) uses.push(toUse(`in:${own}`));
  for (const name of new Set(words.map(baseName)))
    if (graph.unitsByName.has(name) && name.includes('.')) {
      if (!/^(?:source|\.) /.test(code)) uses.push(toUse(`out:${name}`));
      to.push(`in:${name}`);
    }
  const isOutput = isShell ? left === '' && !acts.has('write') && !acts.has('send') : acts.has('print');
  if (isOutput) to.push(`out:${own}`, ...(isShell && scope.of !== undefined ? [functionKey(scope, unit)] : []));
  if (right.includes('env'))
    for (const [, name, index] of right.matchAll(ENVIRONMENT_ENTRY))
      uses.push(toUse(`env:${name ?? graph.strings[Number(index)] ?? ''}`));
  const exported = isShell
    ? /^export (\w{1,80})=/.exec(code)?.[1]
    : /\b(?:os\.environ|process\.env)\.(\w{1,80})$/.exec(left)?.[1];
  if (exported !== undefined) to.push(`env:${exported}`);
  for (const [, name = ''] of right.replaceAll(OF_PROCESS, ' ').matchAll(MUTATES))
    to.push(keyFor(name, statement, graph));
  if (!isShell && acts.has('write') && DUMPS.test(code))
    to.push(...usesIn(right, statement, graph).map(({ key }) => key));
  if (/^(?:return|yield|module\.exports|export default)\b/.test(code) && scope.of !== undefined)
    to.push(functionKey(scope, unit));
  const callback = /(?:\(|,) ?(?:async )?(?:function ?\w{0,40} ?)?\(?([\w$, ]{1,80})\)? ?(?:=>|\) ?\{$)/.exec(
    code,
  )?.[1];
  if (!isShell && callback !== undefined)
    to.push(...assignedNames(callback).map((name) => keyFor(name, statement, graph)));
  const sendersCalled = [...code.matchAll(/(?<![\w$.])([A-Za-z_$][\w$]*)\.(\w{1,40}) ?(?:\(|=(?!=))/g)]
    .filter(([, , method = '']) => SENDING_METHOD.test(method))
    .map(([, name = '']) => keyFor(name, statement, graph));
  // The keys of an exported object are names of the module.
  if (/^(?:module\.)?exports$/.test(left))
    to.push(
      ...[...right.matchAll(/[{,] ?([\w$]{1,80})(?= ?[:,}])/g)].map(([, name = '']) => `${String(unit.id)}/0/${name}`),
    );
  if (acts.has('redirect')) {
    const pipes = [...code.matchAll(/\.pipe\( ?([A-Za-z_$][\w$]*)/g)];
    const targets = pipes.map(([, name = '']) => keyFor(name, statement, graph));
    sendersCalled.push(...targets);
    if (direct.has('remote') || !hasSocket(unit)) to.push(...targets);
  }
  if (isShell) {
    if (/^done\b.*</.test(code)) to.push(...loopVariables(statement, graph));
    const opened = /\bexec (\d{1,2})<>/.exec(code)?.[1];
    if (opened !== undefined) to.push(`fd:${String(unit.id)}:${opened}`);
    sendersCalled.push(
      ...[...code.matchAll(/>& ?(\d{1,2})\b/g)].map(([, number = '']) => `fd:${String(unit.id)}:${number}`),
    );
  }
  // What a push sends is what was put into the repository before, not the key with which it logs in.
  const command = isShell ? code : acts.has('start') ? texts.join(' ') : '';
  const tree = `tree:${String(unit.id)}`;
  const isPush = PUSHES.test(command);
  if (ADDS.test(command) || (isShell ? packs(code) : PUTS_FILES.test(code))) to.push(tree);
  return {
    statement,
    uses: isPush ? [toUse(tree)] : uses,
    direct: isPush ? new Map() : direct,
    acts,
    to,
    calls,
    written,
    sendersCalled,
    programs: [
      ...programs.names.map((name) => keyFor(name, statement, graph)),
      // Scripts of the skill are read themselves.
      ...fileKeys(programs.words.filter((word) => !graph.unitsByName.has(baseName(word)))),
      ...usesIn(isShell ? programs.words.join(' ') : '', statement, graph).map(({ key }) => key),
    ],
    strings: texts,
  };
}

const WRITTEN_FILE =
  /\bos\.write\( ?([A-Za-z_$][\w$]{0,80}) ?,|\b(?:writeFile|appendFile|createWriteStream)(?:Sync)?\( ?([A-Za-z_$][\w$]{0,80}) ?[,)]|\burlretrieve\([^,()]{1,200}, ?([A-Za-z_$][\w$]{0,80}) ?[,)]/g;
const OPENED_FILE =
  /\bopen\( ?([A-Za-z_$][\w$]{0,80}) ?,|(?<![\w$.])([A-Za-z_$][\w$]{0,80})\.(?:open|write_text|write_bytes)\(/g;
const WRITTEN_VARIABLE =
  /(?:>>? ?|\btee (?:-a )?|(?:^| )(?:-[oO]|--output|--output-document|-T|-cz?f|cz?f) ?=?)\$\{?(\w{1,80})\}?(?![\w/])/g;
const COPIES = /^(?:sudo )?(?:cp|mv|install|rsync|tar|zip|dd)\b/;

const PUTS_FILES =
  /\b(?:copy2?|copyfile|copytree|make_archive|(?:cp|copyFile|writeFile|appendFile)(?:Sync)?|write_text|write_bytes)\(/;
const NAMES_FILE = /\$\w|~\/|\/(?:root|home|etc)\/|\*/;

/** Whether a command puts files from elsewhere into a folder or an archive. What it writes to is not one of them. */
function packs(code: string): boolean {
  if (/\b(?:tar -?\w{0,4}x|unzip|gunzip)/.test(code)) return false;
  const from = code.replaceAll(/\d?>>? ?\S{1,200}/g, ' ').trimEnd();
  if (/^(?:sudo )?(?:tar|zip|7z)\b/.test(code)) return NAMES_FILE.test(from);
  if (COPIES.test(code)) return NAMES_FILE.test(from.replace(/ \S{1,200}$/, ''));
  return /^(?:sudo )?(?:cat|base64|gzip|gpg)\b.*>/.test(code) && NAMES_FILE.test(from);
}

/** Names of files that a statement writes: they hold what it writes. */
function writtenNames(
  code: string,
  { isShell, isWriteMode }: { readonly isShell: boolean; readonly isWriteMode: boolean },
): readonly string[] {
  if (isShell)
    return [...code.matchAll(COPIES.test(code) ? /\$\{?(\w{1,80})/g : WRITTEN_VARIABLE)].map(([, name = '']) => name);
  const isOpened = isWriteMode || /\.write_(?:text|bytes)\(/.test(code);
  return [...code.matchAll(WRITTEN_FILE), ...(isOpened ? code.matchAll(OPENED_FILE) : [])].map(
    ([, ...names]) => names.find((name) => name !== undefined) ?? '',
  );
}

/** The variables that the loop before `done < file` reads. */
function loopVariables(statement: FlowStatement, graph: Graph): readonly string[] {
  const { statements } = statement.unit;
  const loop = statements.findLast(({ line, code }) => line <= statement.line && /\bwhile\b.*\bread\b/.test(code));
  return loop === undefined ? [] : assignedNames(loop.left).map((name) => keyFor(name, loop, graph));
}

/** The written right side: a constant that replaced a name keeps the marks of the name. */
function assignedPart({ written, unit: { language } }: FlowStatement): string {
  return splitAssignment(written, language).right;
}

const toUse = (key: string): Use => ({ key, isSelected: false });

function functionKey({ of, parent }: Scope, unit: Unit): string {
  return `${String(unit.id)}/${String(parent?.id ?? 0)}/${of?.name ?? ''}`;
}

function readCalls(statement: FlowStatement, graph: Graph): Node['calls'] {
  const { code, unit } = statement;
  const links = graph.links.get(unit);
  if (unit.functions.size + (links?.names.size ?? 0) + (links?.all.length ?? 0) === 0) return [];
  if (unit.language === 'shell') {
    const [, name = '', rest = ''] = /^(?:.*\$\()?([\w-]{1,80}) (.*)$/s.exec(code) ?? [];
    const called = findFunctions(name, '', statement, graph);
    const uses = [...usesIn(rest, statement, graph), ...fileKeys(rest.split(/[\s'"<>|();,]+/)).map(toUse)];
    return called.map(({ unit: owner, found }) => ({ uses, to: scopeKey(owner, found.scope, '@') }));
  }
  return [...code.matchAll(/(?<![\w$])([\w$]{1,80})\(/g)].slice(0, 50).flatMap((call) => {
    const [whole, name = ''] = call;
    const base = /([\w$]{1,80})\.$/.exec(code.slice(Math.max(0, call.index - 81), call.index))?.[1] ?? '';
    const called = findFunctions(name, base, statement, graph);
    if (called.length === 0) return [];
    const args = splitArguments(code, call.index + whole.length);
    return called.flatMap(({ unit: owner, found }) =>
      found.params.flatMap((param, at) => {
        const arg =
          args.find((one) => new RegExp(String.raw`^ ?${param.replaceAll('$', String.raw`\$`)} ?=(?!=)`).test(one)) ??
          args[at];
        if (arg === undefined || param === '') return [];
        return [
          {
            uses: [...usesIn(arg, statement, graph), ...directUse(arg, statement)],
            to: scopeKey(owner, found.scope, param),
          },
        ];
      }),
    );
  });
}

/** An argument that is itself a source, such as `send(open(path).read())`, is a use of its statement. */
function directUse(arg: string, { unit, line }: FlowStatement): readonly Use[] {
  return /[(\ue000]|environ|process\.env/.test(arg) ? [toUse(`at:${String(unit.id)}:${String(line)}`)] : [];
}

function findFunctions(
  name: string,
  base: string,
  { unit }: FlowStatement,
  graph: Graph,
): readonly { readonly unit: Unit; readonly found: FlowFunction }[] {
  const links = graph.links.get(unit);
  const imported = [
    ...(links?.names.get(name) ?? []),
    ...[...(links?.modules.get(base) ?? []), ...(links?.all ?? [])].map((other) => ({ unit: other, name })),
  ];
  const found = [{ unit, name }, ...imported].flatMap((one) => functionOf(one.unit, one.name));
  // A method of an object of another unit, whatever its class.
  if (found.length > 0 || COMMON_METHODS.has(name)) return found;
  return [...new Set([...(links?.names.values() ?? [])].flat().map((one) => one.unit))].flatMap((one) =>
    functionOf(one, name),
  );
}

const COMMON_METHODS: ReadonlySet<string> = new Set([
  'get',
  'set',
  'run',
  'main',
  'add',
  'items',
  'keys',
  'join',
  'split',
  'format',
]);

function functionOf(unit: Unit, name: string): readonly { readonly unit: Unit; readonly found: FlowFunction }[] {
  const found = unit.functions.get(name);
  return found === undefined ? [] : [{ unit, found }];
}

function splitArguments(code: string, from: number): readonly string[] {
  const args: string[] = [''];
  let depth = 0;
  for (let at = from; at < code.length; at += 1) {
    const one = code.charAt(at);
    if ('([{'.includes(one)) depth += 1;
    else if (')]}'.includes(one) && (depth -= 1) < 0) break;
    if (one === ',' && depth === 0) args.push('');
    else args[args.length - 1] += one;
  }
  return args;
}
