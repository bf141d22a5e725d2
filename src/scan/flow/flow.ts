/**
 * Follows data through the code of a skill: from the files, variables and connections that it reads, over names, functions, files and
 * other scripts, to what it sends and executes. It knows no types and no order; a name that once held a secret holds it everywhere in its scope.
 */
import type { ScanFile } from '../finding.ts';
import type { RuleId } from '../rules.ts';
import { groupByName, linkUnit, toNode, type Node } from './build-graph.ts';
import { ACT_RULES, HELD, hasOnlyLocalSockets, LOOKS_ONLY, WALKS, type Held } from './marks.ts';
import { hasSocket, mayMeet, readMarks, type Marks } from './read-marks.ts';
import { findSelections } from './select-variables.ts';
import { readUnits, type FlowStatement, type Unit } from './read-units.ts';
import type { Strings } from './split-code.ts';
import { isOwnHost } from '../credential-use.ts';
import { FROM_WELL_KNOWN_INSTALLER } from '../patterns/running.ts';

export interface Flow {
  readonly rule: RuleId;
  readonly file: ScanFile;
  readonly line: number;
  readonly says: string;
  /** The code is in a document. */
  readonly isFence: boolean;
  /** Hosts that the statement names. */
  readonly hosts: readonly string[];
}

/** Text that only a decoder shows, or that is written to run later. */
export interface DecodedText {
  readonly file: ScanFile;
  readonly line: number;
  readonly text: string;
  readonly isFence: boolean;
}

export interface Flows {
  readonly flows: readonly Flow[];
  readonly decoded: readonly DecodedText[];
  /** What statements write into files that run by themselves. */
  readonly persisted: readonly DecodedText[];
  /** Texts that statements compute from constants. */
  readonly computed: readonly DecodedText[];
}

/** Reads all statements of the skill, which takes as long as all patterns: for skills with a `flow` signal only. */
export function findFlows(files: readonly ScanFile[]): Flows {
  const strings: Strings = [];
  const units = readUnits(files, strings);
  const unitsByName = groupByName(units);
  const graph = { strings, unitsByName, links: new Map(units.map((unit) => [unit, linkUnit(unit, unitsByName)])) };
  const read = units.flatMap((unit) => unit.statements.map((statement) => readMarks(statement, strings)));
  const nodes = mayMeet(read) ? read.map((one) => toNode(one, graph)) : [];
  const held = propagate(nodes, nodes.length === 0 ? new Set() : findSelections(units, strings));
  const flows = [...nodes.flatMap((node) => findAt(node, held)), ...findLocked(nodes, held)];
  const absent = new Map(files.map((file) => [file, CUT_NAMES.filter((name) => !file.text.includes(name))] as const));
  const decoded = units.flatMap((unit) =>
    unit.statements.flatMap(({ line, decoded: texts }) =>
      texts.filter(isText).map((text) => ({ file: unit.file, line, text, isFence: unit.isFence })),
    ),
  );
  return {
    flows: flows.filter((one, at) => at === flows.findIndex((other) => isSame(one, other))),
    decoded,
    persisted: nodes.flatMap((node) => findPersisted(node, held)),
    computed: read.flatMap(({ statement, texts }) =>
      findComputed(statement, texts, absent.get(statement.unit.file) ?? []),
    ),
  };
}

/** Constants alone are written in the file, where the patterns see them. */
function findComputed(
  { unit, line, code, written }: FlowStatement,
  texts: readonly string[],
  absent: readonly string[],
): readonly DecodedText[] {
  const { file, isFence, language } = unit;
  // Quotes inside a word are gone from the code; a name that only they cut was meant to be seen by no one.
  if (code === written)
    return language === 'shell' && absent.some((name) => code.includes(name))
      ? [{ file, line, text: code, isFence }]
      : [];
  const computed = language === 'shell' ? [code] : texts.filter((text) => text.length > 2 && !file.text.includes(text));
  const text = computed
    .map((one) => (language === 'shell' ? one : `'${one}'`))
    .join(' ')
    .replaceAll(/\s+/g, ' ');
  return text === '' || (language === 'shell' && file.text.includes(text)) ? [] : [{ file, line, text, isFence }];
}

const CUT_NAMES = 'curl wget netcat ncat socat id_rsa id_ed25519 .ssh .aws .netrc /dev/tcp'.split(' ');

function findPersisted(node: Node, held: ReadonlyMap<string, Marks>): readonly DecodedText[] {
  const { statement, acts, strings } = node;
  const place = acts.has('write') ? holdAt(node, held).get('startup') : undefined;
  if (place === undefined) return [];
  const { unit, line, code } = statement;
  const text = unit.language === 'shell' ? code : [place, ...strings].join(' ');
  return [{ file: unit.file, line, text, isFence: unit.isFence }];
}

/** The files of the home folder are encrypted, and the originals are replaced. */
function findLocked(nodes: readonly Node[], held: ReadonlyMap<string, Marks>): readonly Flow[] {
  const onHome = nodes.filter((node) => holdAt(node, held).has('homeFile'));
  const removes = onHome.find(({ acts }) => acts.has('delete'));
  const encrypts = nodes.find(
    ({ acts, statement }) => acts.has('encrypt') && statement.unit === removes?.statement.unit,
  );
  if (encrypts === undefined) return [];
  const { unit, line } = encrypts.statement;
  const says = 'encrypts the files of the home folder and removes the originals';
  return [{ rule: 'locks-files', file: unit.file, line, says, isFence: unit.isFence, hosts: [] }];
}

function isSame(a: Flow, b: Flow): boolean {
  return a.rule === b.rule && a.file === b.file && a.line === b.line;
}

function isText(text: string): boolean {
  return text.length >= 6 && /^[\t\n\r\x20-\x7e]+$/.test(text);
}

const ONLY_MEASURES =
  /(?<![\w.])(?:len|bool)\(|\.?\b(?:exists|existsSync|isfile|is_file|isdir|is_dir|access|accessSync|sha256|md5|getmtime|hexdigest)\(/;

/** The marks of a statement. */
function holdAt({ statement, uses, direct, acts }: Node, held: ReadonlyMap<string, Marks>): Marks {
  const marks: Marks = new Map(direct);
  for (const { key, isSelected } of uses)
    for (const [mark, origin] of held.get(key) ?? [])
      if (!marks.has(mark) && !(isSelected && mark === 'environment')) marks.set(mark, origin);
  // A path below it is another folder, so it is not followed.
  marks.delete('home');
  const home = direct.get('home');
  if (home !== undefined && WALKS.test(statement.code)) marks.set('homeFile', home);
  const path = marks.get('path');
  const isShell = statement.unit.language === 'shell';
  if (path !== undefined && !marks.has('secret') && (isShell ? !LOOKS_ONLY.test(statement.code) : acts.has('read')))
    marks.set('secret', path);
  const settings = marks.get('settings');
  if (settings !== undefined && (isShell ? !LOOKS_ONLY.test(statement.code) : acts.has('read')))
    marks.set('environment', settings);
  return marks;
}

/** Input, output and variables of programs: only secrets are followed from one to another. */
const BETWEEN_PROGRAMS = /^(?:in|out|env):/;
const SECRET_MARKS: readonly Held[] = ['secret', 'environment', 'homeFile'];

/** A path keeps naming the same file; in a longer expression it is one part of something else. */
const IS_NAME =
  /^(?:(?:return|await|str\(|os\.path\.\w{1,20}\(|path\.\w{1,20}\(|Path\() ?)*[\w$.{}"]+ ?(?:\(\))?\)*:?$/;

function propagate(nodes: readonly Node[], selections: ReadonlySet<FlowStatement>): ReadonlyMap<string, Marks> {
  const held = new Map<string, Marks>();
  const users = new Map<string, Node[]>();
  for (const node of nodes)
    for (const { key } of [...node.uses, ...node.calls.flatMap(({ uses }) => uses)]) {
      const known = users.get(key);
      if (known === undefined) users.set(key, [node]);
      else known.push(node);
    }
  const queue = new Set(nodes.filter(({ direct }) => direct.size > 0));
  const give = (key: string, marks: Marks): void => {
    const known = held.get(key) ?? new Map<Held, string>();
    let isChanged = false;
    for (const mark of BETWEEN_PROGRAMS.test(key) ? SECRET_MARKS : HELD) {
      const origin = marks.get(mark);
      if (origin === undefined || known.has(mark)) continue;
      known.set(mark, origin);
      isChanged = true;
    }
    if (!isChanged) return;
    held.set(key, known);
    for (const user of users.get(key) ?? []) queue.add(user);
  };
  // Marks are only added, and each key has a few, so this ends.
  for (const node of queue) {
    queue.delete(node);
    const marks = holdAt(node, held);
    if (selections.has(node.statement)) for (const mark of ['environment', 'settings'] as const) marks.delete(mark);
    if (ONLY_MEASURES.test(node.statement.right) && !node.acts.has('read')) continue;
    const isShell = node.statement.unit.language === 'shell';
    // What a shell saves is often an answer; a program comes from the command that downloads.
    const remote = (isShell ? node.direct : marks).get('remote');
    const saved: Marks = new Map([...marks].filter(([mark]) => SECRET_MARKS.includes(mark)));
    if (remote !== undefined) saved.set('download', remote);
    for (const key of node.written) give(key, saved);
    if (!IS_NAME.test(node.statement.right)) marks.delete('download');
    for (const key of node.to) give(key, marks);
    const { unit, line } = node.statement;
    give(`at:${String(unit.id)}:${String(line)}`, marks);
    for (const { uses, to, isFile } of node.calls) {
      const passed = holdAt({ ...node, uses, direct: new Map() }, held);
      const content = isFile === true ? passed.get('remote') : undefined;
      if (content !== undefined) passed.set('download', content);
      else if (uses.length > 1) passed.delete('download');
      give(to, passed);
    }
  }
  return held;
}

const HOST = /(?:https?|wss?|ftp):\/\/([^\s/'":?#]{1,253})|\/dev\/(?:tcp|udp)\/([^\s/]{1,253})/gi;

const ONLY_UNPICKLES = /^(?!.*(?<![\w.])(?:exec|eval|compile)\().*\bpickle\.loads\(/;

/** A shell or an interpreter gets the text; other programs get it as an argument. */
const COMMAND_TEXT =
  /\bsys\.executable\b|\bprocess\.execPath\b|\bos\.(?:system|popen)\(|\bshell ?[=:] ?true|(?<![\w.])(?:child_process\.)?exec(?:Sync)?\(|\bgetoutput\(|subprocess_shell\(/i;
const INTERPRETER = /^(?:\S{0,40}\/)?(?:(?:ba|z|da|k)?sh|python[\d.]{0,4}|node|perl|ruby|php|osascript)$/;

function findAt(node: Node, held: ReadonlyMap<string, Marks>): readonly Flow[] {
  const { statement, acts, sendersCalled, strings, direct, programs } = node;
  if (direct.size + acts.size + sendersCalled.length + programs.length === 0) return [];
  const { unit, line, code, written } = statement;
  const marks = holdAt(node, held);
  const program = programs.map((key) => held.get(key)?.get('download')).find((origin) => origin !== undefined);
  if (marks.size === 0 && program === undefined) return [];
  const hosts = [...(unit.language === 'shell' ? code : strings.join(' ')).matchAll(HOST)].map(([, url, device]) =>
    (url ?? device ?? '').toLowerCase(),
  );
  const at = (rule: RuleId, says: string): Flow => ({
    rule,
    file: unit.file,
    line,
    says,
    isFence: unit.isFence,
    hosts,
  });
  const found: Flow[] = [];
  const sends = acts.has('send') || sendersCalled.some((key) => isSender(held.get(key)));
  const secret = marks.get('secret') ?? marks.get('environment') ?? marks.get('homeFile');
  if (sends && secret !== undefined && !isOwnHost(secret, hosts, unit.file.text))
    found.push(at('collect-and-send', `sends ${secret} to another host`));
  const isCommandText = COMMAND_TEXT.test(code) || strings.some((text) => INTERPRETER.test(text));
  // Data that a program stored for itself is no code, unless it comes with the skill or from elsewhere.
  const isOwnData =
    ONLY_UNPICKLES.test(code) && /decode\( ?[a-z]/.test(code) && !marks.has('remote') && !marks.has('asset');
  const decoded = !isOwnData && marks.has('decoded') && (acts.has('evaluate') || (acts.has('start') && isCommandText));
  if (decoded) found.push(at('encoded-payload', 'executes decoded text'));
  if (
    marks.has('remote') &&
    acts.has('evaluate') &&
    (unit.language !== 'shell' || !(unit.isFence || direct.has('remote')))
  )
    found.push(at('download-and-run', 'executes downloaded text'));
  if (marks.has('remote') && acts.has('start') && isCommandText && unit.language !== 'shell' && ONLY_A_NAME.test(code))
    found.push(at('download-and-run', 'starts what another host says'));
  if (program !== undefined && !(unit.language === 'shell' && unit.isFence) && !isVendor(program))
    found.push(at('download-and-run', 'starts a downloaded program'));
  if (!unit.isFence && marks.has('asset') && acts.has('evaluate') && RUNS_TEXT.test(code))
    found.push(at('encoded-payload', 'executes the text of a data file'));
  const isShellStarted =
    acts.has('redirect') && (marks.has('socket') || (/pty\.spawn\(/.test(code + written) && hasSocket(unit)));
  const isInput = /\bstdin\.(?:write|end)\(/.test(code) && mayStartShell(unit);
  const runsInput = marks.has('received') && (acts.has('start') || acts.has('evaluate') || isInput);
  if (
    unit.language !== 'shell' &&
    !hasOnlyLocalSockets(unit.file.text) &&
    (runsInput || (isShellStarted && mayStartShell(unit)))
  )
    found.push(at('reverse-shell', 'connects a shell to a remote host'));
  return found;
}

/** The whole command is a variable or one entry of it. */
const ONLY_A_NAME =
  /(?:\bsubprocess\.\w{1,20}|\bPopen|\bos\.(?:system|popen)|\bgetoutput|_subprocess_shell|(?<![\w.])exec(?:Sync)?|\bchild_process\.exec(?:Sync)?)\( ?(?!self\$)[\w$]{1,60}(?:\.\w{1,40}|\[ ?[\ue000\d\ue001]{1,12} ?\]|\.get\( ?[\ue000\d\ue001]{1,12} ?\)){0,3} ?[,)]/;

/** Python's `eval` reads values, a shell sources settings, and the command after `-c` is written here unless it is expanded. */
const RUNS_TEXT =
  /(?<![\w.$])(?:exec|compile|Function)\(|\bnew Function\(|\bvm\.|(?<![\w.$])eval\( ?compile\(|(?:^|[|;&(] ?)eval |\| ?(?:ba|z|da|k)?sh\b|\b(?:ba|z|da|k)?sh -c [$\x60]/;

/** The URL of a download is one of a well-known installer. */
function isVendor(origin: string): boolean {
  return FROM_WELL_KNOWN_INSTALLER.test(origin.toLowerCase());
}

function isSender(marks: Marks | undefined): boolean {
  return marks !== undefined && (marks.has('client') || marks.has('socket'));
}

/** Proxies in JavaScript connect streams as well. */
function mayStartShell({ language, statements }: Unit): boolean {
  const starts = ACT_RULES.filter((one) => one.mark === 'start' && one.language === language);
  return language === 'python' || statements.some(({ code }) => starts.some(({ find }) => find.test(code)));
}
