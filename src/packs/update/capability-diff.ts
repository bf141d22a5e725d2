/**
 * Lists the capabilities that a new version of a skill adds, as far as its files state them. It does not prove that there are no others:
 * a skill can do things that it does not declare.
 */
import { compareText, diffLines, isObject, parseJson, quoted, type SkillHead } from '#core';
import { declaredSecrets, refuseDynamicCommands } from '#policy';
import { parseSkillMd, readPluginManifest } from '#skills';
import { readRequirements, requirementText } from '../requires/requires.ts';

type TextDiff = ReturnType<typeof diffLines>;

export interface FileSide {
  /** Hexadecimal. */
  readonly sha256: string;
  /** Absent if the file is binary or too large to show. */
  readonly text?: string;
  readonly isExecutable: boolean;
}

/** A file of the old version, the new version, or both. */
export interface UpdatedFile {
  readonly path: string;
  readonly before?: FileSide;
  readonly after?: FileSide;
}

export interface NewCapability {
  /** A predicate of the skill, for example `uses these tools`. */
  readonly what: string;
  /** Untrusted text from the skill, not sanitized. Empty if `what` says it all. */
  readonly items: readonly string[];
}

/** Returns the most important capabilities first. `name` is the folder of the skill or the plugin. */
export function newCapabilities(name: string, files: readonly UpdatedFile[]): readonly NewCapability[] {
  const manifest = files.find(({ path }) => path === 'plugin.json')?.after;
  // Files beyond a limit have no text, and a file can be padded beyond it.
  const isPlugin =
    manifest !== undefined && (manifest.text === undefined || readPluginManifest(manifest.text) !== undefined);
  return !isPlugin ? skillCapabilities(name, files) : pluginCapabilities(name, files);
}

/** A skill of the plugin can do what a skill alone can. */
const SKILL_OF_PLUGIN = /^skills\/([^/]+)\/(.+)$/s;
/** Also in the folder of a client. */
const HOOK = /^(?:[^/]+\/)?hooks(?:\.json$|\/)/;

function pluginCapabilities(name: string, files: readonly UpdatedFile[]): readonly NewCapability[] {
  const skills = new Map<string, UpdatedFile[]>();
  const others: UpdatedFile[] = [];
  for (const file of files) {
    const [, skill, path] = SKILL_OF_PLUGIN.exec(file.path) ?? [];
    if (skill === undefined || path === undefined) others.push(file);
    else skills.set(skill, [...(skills.get(skill) ?? []), { ...file, path }]);
  }
  const [before, after] = [readServers(files, 'before'), readServers(files, 'after')];
  const isSame = (server: string): boolean => before.get(server) === after.get(server);
  const servers = [...after.keys()];
  const settings = files.find(({ path }) => path === 'mcp.json')?.after;
  const isHidden = settings !== undefined && settings.text === undefined;
  const hooks = files.filter(
    ({ path, before: was, after: now }) => HOOK.test(path) && now !== undefined && now.sha256 !== was?.sha256,
  );
  return [
    ...listed(
      'offers these MCP servers, which run without a sandbox after you trust the plugin',
      servers.filter((server) => !before.has(server)),
    ),
    ...listed(
      'changes these MCP servers',
      servers.filter((server) => before.has(server) && !isSame(server)),
    ),
    ...stated('has an mcp.json that is too large to compare', isHidden),
    ...stated('needs trust again for its MCP servers', isHidden || after.size > 0),
    ...listed('adds or changes these hooks of other agents, which skillwright never runs', sortPaths(hooks)),
    ...skillCapabilities(name, others),
    ...[...skills].flatMap(([skill, own]) =>
      skillCapabilities(skill, own).map(({ what, items }) => ({
        what: `has the skill ${quoted(skill, 64)}, which ${what}`,
        items,
      })),
    ),
  ];
}

/** The servers as the file has them: an invalid one is named too. */
function readServers(files: readonly UpdatedFile[], side: 'before' | 'after'): ReadonlyMap<string, string> {
  const value = parseJson(files.find(({ path }) => path === 'mcp.json')?.[side]?.text ?? '');
  const servers = isObject(value) && isObject(value['mcpServers']) ? value['mcpServers'] : {};
  return new Map(Object.entries(servers).map(([server, entry]) => [server, JSON.stringify(entry)]));
}

function skillCapabilities(name: string, files: readonly UpdatedFile[]): readonly NewCapability[] {
  const [before, after] = [readSkillState(name, files, 'before'), readSkillState(name, files, 'after')];
  const added = (what: string, of: (state: SkillState) => readonly string[]): readonly NewCapability[] =>
    listed(what, without(of(after), of(before)));
  const programs = files.filter(({ path, after: now }) => now !== undefined && isProgram(path, now));
  const wasProgram = ({ path, before: old }: UpdatedFile): boolean => old !== undefined && isProgram(path, old);
  return [
    ...toolCapabilities(before.controls, after.controls),
    ...invocationCapabilities(before, after),
    ...added('runs these commands at load time on some hosts', ({ commands }) => commands),
    ...listed('adds these programs', sortPaths(programs.filter((file) => !wasProgram(file)))),
    ...listed(
      'changes these programs',
      sortPaths(programs.filter((file) => wasProgram(file) && file.before?.sha256 !== file.after?.sha256)),
    ),
    ...added('requests these environment variables, which may be secrets', ({ controls }) =>
      declaredSecrets(controls?.requires),
    ),
    ...added('mentions these hosts', ({ hosts }) => hosts),
    ...stated('declares that it needs the network', after.needsNetwork && !before.needsNetwork),
    ...added('requires these skills', ({ skills }) => skills),
    ...added('requires these programs and packages', ({ controls }) =>
      (controls?.requires ?? []).filter((entry) => !/^(?:env|skills?):/i.test(entry)),
    ),
  ];
}

function listed(what: string, items: readonly string[]): readonly NewCapability[] {
  return items.length === 0 ? [] : [{ what, items }];
}

function stated(what: string, isTrue: boolean): readonly NewCapability[] {
  return isTrue ? [{ what, items: [] }] : [];
}

function sortPaths(files: readonly UpdatedFile[]): readonly string[] {
  return files.map(({ path }) => path).sort(compareText);
}

function without(items: readonly string[], known: readonly string[]): readonly string[] {
  const old = new Set(known);
  return [...new Set(items)].filter((item) => !old.has(item));
}

function isProgram(path: string, { isExecutable }: FileSide): boolean {
  return isExecutable || path.startsWith('scripts/');
}

interface SkillState {
  /** Absent if SKILL.md is missing or invalid. */
  readonly controls?: SkillHead['controls'];
  readonly description: string;
  readonly needsNetwork: boolean;
  readonly skills: readonly string[];
  readonly commands: readonly string[];
  readonly hosts: readonly string[];
}

const MAX_SCANNED = 1024 * 1024;
const HOST = /\bhttps?:\/\/(?:[^\s/@"'`<>]{1,100}@)?([a-z0-9][a-z0-9.-]{0,252})/gi;
const NETWORK = /\b(?:internet|network|online)\b/i;
/** Negations such as "no network needed". */
const NO_NETWORK = /\b(?:no|without|never)\s+(?:(?:any|an?)\s+)?(?:internet|network)\b/gi;

function readSkillState(name: string, files: readonly UpdatedFile[], side: 'before' | 'after'): SkillState {
  const texts = files.flatMap(({ [side]: file }) =>
    file?.text === undefined ? [] : [file.text.slice(0, MAX_SCANNED)],
  );
  const hosts = texts.flatMap((text) => Array.from(text.matchAll(HOST), ([, host = '']) => host.toLowerCase()));
  const rest = { hosts: [...new Set(hosts.map((host) => host.replace(/\.+$/, '')))].sort(compareText) };
  const text = files.find(({ path }) => path === 'SKILL.md')?.[side]?.text;
  const empty: SkillState = { description: '', needsNetwork: false, skills: [], commands: [], ...rest };
  if (text === undefined) return empty;
  const source = { path: 'SKILL.md', directory: name, fileName: 'SKILL.md', text, validUtf8: true };
  const { head, body } = parseSkillMd(source, { mode: 'lenient' });
  const { commands } = refuseDynamicCommands(body, '');
  if (head === undefined) return { ...empty, commands };
  return {
    controls: head.controls,
    description: head.description,
    needsNetwork: NETWORK.test((head.compatibility ?? '').replaceAll(NO_NETWORK, '')),
    skills: readRequirements(head).requirements.map(requirementText),
    commands,
    ...rest,
  };
}

/** The tool list restricts a skill, so removing the list grants all tools. */
function toolCapabilities(
  before: SkillHead['controls'] | undefined,
  after: SkillHead['controls'] | undefined,
): readonly NewCapability[] {
  if (after === undefined) return [];
  const [was, now] = [before?.allowedTools, after.allowedTools];
  return [
    ...stated('no longer declares which tools it uses', was !== undefined && now === undefined),
    ...listed('uses these tools', now === undefined ? [] : without(now, was ?? [])),
    ...listed('no longer disallows these tools', without(before?.disallowedTools ?? [], after.disallowedTools ?? [])),
  ];
}

function invocationCapabilities(before: SkillState, after: SkillState): readonly NewCapability[] {
  const [was, now] = [before.controls, after.controls];
  if (was === undefined || now === undefined) return [];
  return [
    ...stated('can be invoked by the model', was.disableModelInvocation && !now.disableModelInvocation),
    ...stated('can be invoked by the user', !was.userInvocable && now.userInvocable),
    ...stated(
      'runs inline in the conversation instead of in a subagent',
      was.runMode === 'subagent' && now.runMode === 'inline',
    ),
    ...stated(
      'applies to every task instead of certain files only',
      was.paths !== undefined && now.paths === undefined,
    ),
    ...listed('applies to these files', was.paths === undefined ? [] : without(now.paths ?? [], was.paths)),
    ...stated('has a different description', before.description !== after.description),
  ];
}

export interface ComparedFile extends UpdatedFile {
  /** Absent if a side has no text. */
  readonly diff?: TextDiff;
}

/** The files that differ: SKILL.md first, then programs, then the others by path. */
export function changedFiles(files: readonly UpdatedFile[]): readonly ComparedFile[] {
  return files
    .filter(({ before, after }) => before?.sha256 !== after?.sha256 || before?.isExecutable !== after?.isExecutable)
    .toSorted((a, b) => rankFile(a) - rankFile(b) || compareText(a.path, b.path))
    .map((file) => {
      const [before, after] = [readSideText(file.before), readSideText(file.after)];
      return before === undefined || after === undefined ? file : { ...file, diff: diffLines(before, after) };
    });
}

function rankFile({ path, after, before }: UpdatedFile): number {
  if (path === 'SKILL.md') return 0;
  return path.startsWith('scripts/') || (after ?? before)?.isExecutable === true ? 1 : 2;
}

/** A missing file counts as empty. */
function readSideText(side: UpdatedFile['before']): string | undefined {
  return side === undefined ? '' : side.text;
}

/** Counts changed files and lines; lines of text files only. */
export function countChanges(files: readonly ComparedFile[]) {
  const sum = (of: (diff: TextDiff) => number): number =>
    files.reduce((total, { diff }) => total + (diff === undefined ? 0 : of(diff)), 0);
  return {
    changed: files.filter(({ before, after }) => before !== undefined && after !== undefined).length,
    added: files.filter(({ before }) => before === undefined).length,
    removed: files.filter(({ after }) => after === undefined).length,
    linesAdded: sum(({ added }) => added),
    linesRemoved: sum(({ removed }) => removed),
  };
}
