/**
 * What a new version of a skill may do that the old one could not, as far as files say so: the first thing to look at before an update.
 * It is no proof of anything: what a skill does not state, it does not state here either.
 */
import { compareText } from '../../core/diagnostic.ts';
import { findDynamicCommands } from '../../policy/command/dynamic-commands.ts';
import { kindOfFile } from '../../core/path.ts';
import { declaredSecrets } from '../../policy/secret-names.ts';
import type { SkillControls } from '../../core/skill.ts';
import { parseSkillMd } from '../../format/skill-md.ts';
import { readRequirements, requirementText } from '../requires/requires.ts';

export interface FileSide {
  /** Hex; which bytes these are. */
  readonly sha256: string;
  /** Absent: it is no text, or too large to be shown. */
  readonly text?: string;
  readonly isExecutable: boolean;
}

/** A file of the old version, of the new one, or of both. */
export interface UpdatedFile {
  readonly path: string;
  readonly before?: FileSide;
  readonly after?: FileSide;
}

export interface NewPower {
  /** In our words, with the skill before them. */
  readonly what: string;
  /** In theirs: not cleaned. Empty where `what` says all. */
  readonly items: readonly string[];
}

/** In the order of weight. A skill that was not there before has all of its powers new. `name`: of its folder. */
export function newPowers(name: string, files: readonly UpdatedFile[]): readonly NewPower[] {
  const [before, after] = [stateOf(name, files, 'before'), stateOf(name, files, 'after')];
  const added = (what: string, of: (state: SkillState) => readonly string[]): readonly NewPower[] =>
    listed(what, without(of(after), of(before)));
  const programs = files.filter(({ path, after: now }) => now !== undefined && isProgram(path, now));
  const wasProgram = ({ path, before: old }: UpdatedFile): boolean => old !== undefined && isProgram(path, old);
  return [
    ...toolPowers(before.controls, after.controls),
    ...choicePowers(before, after),
    ...added('runs these commands while some hosts load it', ({ commands }) => commands),
    ...listed('has these programs, which are new', pathsOf(programs.filter((file) => !wasProgram(file)))),
    ...listed(
      'has these programs, which changed',
      pathsOf(programs.filter((file) => wasProgram(file) && file.before?.sha256 !== file.after?.sha256)),
    ),
    ...added('asks for these variables, which may be secrets', ({ controls }) => declaredSecrets(controls?.requires)),
    ...added('names these hosts', ({ hosts }) => hosts),
    ...stated('says that it needs the network', after.needsNetwork && !before.needsNetwork),
    ...added('needs these skills', ({ skills }) => skills),
    ...added('needs these programs and packages', ({ controls }) => (controls?.requires ?? []).filter(isOther)),
  ];
}

function listed(what: string, items: readonly string[]): readonly NewPower[] {
  return items.length === 0 ? [] : [{ what, items }];
}

function stated(what: string, isSo: boolean): readonly NewPower[] {
  return isSo ? [{ what, items: [] }] : [];
}

function pathsOf(files: readonly UpdatedFile[]): readonly string[] {
  return files.map(({ path }) => path).sort(compareText);
}

function without(items: readonly string[], known: readonly string[]): readonly string[] {
  const old = new Set(known);
  return [...new Set(items)].filter((item) => !old.has(item));
}

function isProgram(path: string, { isExecutable }: FileSide): boolean {
  return isExecutable || kindOfFile(path) === 'script';
}

/** Variables and skills are told apart. */
function isOther(entry: string): boolean {
  return !/^(?:env|skills?):/i.test(entry);
}

/** What one version says of itself. */
interface SkillState {
  /** Absent where there is no readable SKILL.md. */
  readonly controls?: SkillControls;
  readonly description: string;
  readonly needsNetwork: boolean;
  readonly skills: readonly string[];
  readonly commands: readonly string[];
  readonly hosts: readonly string[];
}

const MAX_SCANNED = 1024 * 1024;
const HOST = /\bhttps?:\/\/(?:[^\s/@"'`<>]{1,100}@)?([a-z0-9][a-z0-9.-]{0,252})/gi;
const NETWORK = /\b(?:internet|network|online)\b/i;
/** "No network needed" is the opposite of a need. */
const NO_NETWORK = /\b(?:no|without|never)\s+(?:(?:any|an?)\s+)?(?:internet|network)\b/gi;

function stateOf(name: string, files: readonly UpdatedFile[], side: 'before' | 'after'): SkillState {
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
  const commands = findDynamicCommands(body).map(({ command }) => command);
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

/** A list of tools is what a skill limits itself to: to leave it out is to ask for all. */
function toolPowers(before: SkillControls | undefined, after: SkillControls | undefined): readonly NewPower[] {
  if (after === undefined) return [];
  const [was, now] = [before?.allowedTools, after.allowedTools];
  return [
    ...stated('no longer says which tools it uses', was !== undefined && now === undefined),
    ...listed('uses these tools', now === undefined ? [] : without(now, was ?? [])),
    ...listed(
      'forbids itself these tools no longer',
      without(before?.disallowedTools ?? [], after.disallowedTools ?? []),
    ),
  ];
}

function choicePowers(before: SkillState, after: SkillState): readonly NewPower[] {
  const [was, now] = [before.controls, after.controls];
  if (was === undefined || now === undefined) return [];
  return [
    ...stated('may be chosen by the model itself', was.disableModelInvocation && !now.disableModelInvocation),
    ...stated('may be called by name', !was.userInvocable && now.userInvocable),
    ...stated(
      'works in the conversation itself, no longer apart from it',
      was.runMode === 'subagent' && now.runMode === 'inline',
    ),
    ...stated(
      'comes up for every task, no longer for some files only',
      was.paths !== undefined && now.paths === undefined,
    ),
    ...listed('comes up for these files', was.paths === undefined ? [] : without(now.paths ?? [], was.paths)),
    ...stated('is chosen by another description', before.description !== after.description),
  ];
}
