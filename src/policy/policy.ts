import { EFFECTS, invalidInput, printable, quoted, type Decision } from '#core';
import type { SimpleCommand } from './command/command-words.ts';
import { coversProgram, type CommandPattern } from './command/command-pattern.ts';
import {
  appliesToTool,
  couldCover,
  matchesAccess,
  missedCommand,
  listSubjectNames,
  type PolicyRule,
  type SubjectNames,
} from './policy-rule.ts';
import { RISKS } from './risks.ts';
import type { Access } from './access.ts';
import { isSecretPath } from './protected-names.ts';

/**
 * What an action may do. A policy is a list of layers. Each layer decides independently and the strictest decision wins, so adding a layer can only
 * remove rights.
 *
 *     configuration: built-in, user, environment, options     grants what it names
 *     project file, active skills, run                          restrict
 *
 * Inside a layer `deny` beats `ask` beats `allow`, regardless of order and specificity.
 */
export interface Policy {
  readonly layers: readonly PolicyLayer[];
  /** Rules of skills that count as approval (`allowed-tools` as a grant). */
  readonly grants: readonly PolicyRule[];
}

export interface PolicyLayer {
  readonly origin: Decision['origin'];
  readonly rules: readonly PolicyRule[];
  /** The effect if no rule of this layer matches. */
  readonly otherwise: Readonly<Record<Decision['risk'], Decision['effect']>>;
}

/** The worst case of each tool (POL-1). Third-party tools count as high risk. */
const TOOL_RISKS: ReadonlyMap<string, Decision['risk']> = new Map<string, Decision['risk']>([
  ['read_file', 'low'],
  ['list_dir', 'low'],
  ['grep', 'low'],
  ['run_script', 'medium'],
  ['run_command', 'medium'],
  // A host file that is copied into a workspace; a file of the project is of medium risk.
  ['host_input', 'high'],
  // Declared packages; those that only a model names are also `unlisted_packages`.
  ['install_packages', 'medium'],
  ['unlisted_packages', 'high'],
  ['write_file', 'high'],
  ['delete_file', 'high'],
  ['network_request', 'high'],
  // A host folder that a program may change.
  ['mount_write', 'high'],
  // Hosts that a program may reach, and secrets that it gets.
  ['use_network', 'high'],
  ['use_secret', 'high'],
  // A program without isolation.
  ['unsafe_local', 'high'],
]);

/**
 * Tools that a model needs to find and read skills, to manage running programs, and to answer. Defaults and lists of skills do not remove
 * them; a deny or ask rule does.
 */
export const ALWAYS_ON: ReadonlySet<string> = new Set([
  'search_skills',
  'load_skill',
  'list_resources',
  'read_resource',
  'select_documents',
  'get_script_path',
  'write_input',
  'poll_command',
  'kill_command',
  'final_answer',
]);

/** Conditions of a program rather than tools. Skills have no name for them, so their lists do not apply. */
const CIRCUMSTANCES: ReadonlySet<string> = new Set([
  'install_packages',
  'unlisted_packages',
  'host_input',
  'mount_write',
  'use_network',
  'use_secret',
  'unsafe_local',
]);

/** Reading is allowed; everything else needs approval, and without a person that means no (POL-2). */
export const BY_RISK: Readonly<Record<Decision['risk'], Decision['effect']>> = {
  low: 'allow',
  medium: 'ask',
  high: 'ask',
};
/** Stands in a decision where no rule matched. */
export const BY_DEFAULT = 'by risk';
export const NO_OPINION: Readonly<Record<Decision['risk'], Decision['effect']>> = {
  low: 'allow',
  medium: 'allow',
  high: 'allow',
};

function findRisk(tool: string): Decision['risk'] {
  return ALWAYS_ON.has(tool) ? 'low' : (TOOL_RISKS.get(tool) ?? 'high');
}

/** Edits of files that git keeps can be undone: they are asked about as other writes, and one key answers. */
function accessRisk(access: Access): Decision['risk'] {
  return isEdit(access) ? 'low' : defaultRisk(access);
}

/**
 * Files that git ignores are often local settings, so reading them is not low risk. A file in `work/` of the workspace changes nothing of the
 * user; the program that uses it is decided about itself. A program gets other files of the project anyway, if it may read it; any other
 * file of the machine, and every secret file, is not for `--yes` to give away.
 */
function defaultRisk(access: Access): Decision['risk'] {
  if (isWorkFile(access) || (runsNoProgram(access) && !readsFiles(access))) return 'low';
  if (isProjectInput(access)) return 'medium';
  return isIgnoredRead(access) ? 'medium' : findRisk(access.tool);
}

function isEdit({ tool, subject }: Access): boolean {
  return tool === 'write_file' && subject.kind === 'path' && subject.isUndoable === true;
}

function isWorkFile({ tool, subject }: Access): boolean {
  return tool === 'write_file' && subject.kind === 'path' && subject.path.startsWith('workspace://work/');
}

function readsFiles({ subject }: Access): boolean {
  return subject.kind === 'command' && subject.line.type === 'commands' && subject.line.readsFiles === true;
}

/** Builtins of the shell change nothing but the workspace. */
function runsNoProgram({ subject }: Access): boolean {
  return subject.kind === 'command' && !subject.isUnisolated && missedCommand([], subject) === undefined;
}

function isProjectInput(access: Access): boolean {
  const { tool, subject } = access;
  return tool === 'host_input' && subject.kind === 'path' && subject.isOfProject === true && !isSecretFile(access);
}

export function isSecretFile({ subject }: Access): boolean {
  return subject.kind === 'path' && isSecretPath(subject.absolute ?? subject.path);
}

/** A loaded skill can use its own files, whatever `allowed-tools` says: instructions without the files that they name are of no use. */
function isSkillFile({ subject }: Access): boolean {
  return subject.kind === 'path' && subject.isOfSkill === true;
}

function isIgnoredRead({ tool, subject }: Access): boolean {
  return subject.kind === 'path' && subject.isIgnored === true && findRisk(tool) === 'low';
}

/** A layer that only restricts; it leaves everything it does not mention to other layers. */
export function narrowingLayer(
  origin: Decision['origin'],
  rules: readonly PolicyRule[],
  otherwise: Partial<Record<Decision['risk'], Decision['effect']>> = {},
): PolicyLayer {
  return { origin, rules, otherwise: { ...NO_OPINION, ...otherwise } };
}

/** Adds layers, for example for a project, active skills, a run or a subagent. The result never allows more. */
export function narrowPolicy({ layers, grants }: Policy, more: readonly PolicyLayer[]): Policy {
  return { layers: [...layers, ...more], grants };
}

/** The strictest decision about anything that an action does. */
export function decide(policy: Policy, accesses: readonly Access[]): Decision {
  const [first, ...rest] = accesses.map((access) => decideAccess(policy, access));
  if (first === undefined) throw invalidInput('the list of accesses is empty', 'at least one access');
  const decisions = [first, ...rest];
  const strictest = rest.reduce((a, b) => (outweighs(b, a) ? b : a), first);
  const risk = RISKS[Math.max(...decisions.map((decision) => RISKS.indexOf(decision.risk)))] ?? 'high';
  return { ...strictest, risk };
}

function decideAccess(policy: Policy, access: Access): Decision {
  let strictest: LayerDecision | undefined;
  let isAskedByRisk = true;
  for (const layer of policy.layers) {
    const decided = decideInLayer(layer, access);
    if (decided === undefined) continue;
    if (decided.effect === 'ask' && decided.rule !== undefined) isAskedByRisk = false;
    if (strictest === undefined || outweighs(decided, strictest)) strictest = decided;
    if (decided.effect === 'deny') break;
  }
  // A policy in which no layer decides allows nothing.
  const found = strictest ?? { effect: 'deny', origin: { layer: 'built-in', where: '' }, rule: undefined };
  const isGrantable = accessRisk(access) === 'medium' && !CIRCUMSTANCES.has(access.tool);
  if (found.effect === 'ask' && isAskedByRisk && isGrantable) {
    const grant = policy.grants.find(
      (rule) => appliesToTool(rule, access.tool) && matchesAccess(rule, access) === 'yes',
    );
    if (grant !== undefined) return explain({ effect: 'allow', rule: grant.text, origin: grant.origin }, access);
  }
  return explain(found, access);
}

interface LayerDecision {
  readonly effect: Decision['effect'];
  readonly rule: string | undefined;
  readonly origin: Decision['origin'];
  /** Why a rule that seems to match does not. */
  readonly because?: string;
  /** A rule denies it, if it means what it may mean. `--yes` does not answer that. */
  readonly isUncertain?: boolean;
}

/** The decision of one layer; undefined if the layer does not apply to the tool. */
function decideInLayer({ origin, rules, otherwise }: PolicyLayer, access: Access): LayerDecision | undefined {
  const { tool } = access;
  const isAlwaysOn = ALWAYS_ON.has(tool);
  if (origin.layer === 'skill' && (isAlwaysOn || CIRCUMSTANCES.has(tool) || isSkillFile(access))) return undefined;
  const names = listSubjectNames(access.subject);
  const allows: PolicyRule[] = [];
  let hasPattern = false;
  let askDecision: LayerDecision | undefined;
  let ruledOut: PolicyRule['family'];
  const isWork = isWorkFile(access);
  for (const rule of rulesForTool(rules, tool)) {
    const { family } = rule;
    if (family !== undefined) {
      if (family !== ruledOut && !names.lower.some((name) => family.matches(name))) ruledOut = family;
      if (family === ruledOut) continue;
    }
    // Tools outside of the sandbox do not obey a file in `work/`, and programs write it without a question.
    if (isWork && rule.effect === 'ask' && rule.origin.layer === 'built-in') continue;
    if (rule.effect === 'allow') {
      hasPattern ||= rule.subjects !== undefined;
      if (couldAllow(rule, access)) allows.push(rule);
    } else if (rule.effect === 'deny' || askDecision === undefined) {
      const match = matchesAccess(rule, access, names);
      if (match === 'no') continue;
      const { effect, text, origin: from } = rule;
      if (match === 'yes' && effect === 'deny') return { effect, rule: text, origin: from };
      const because =
        match === 'yes' ? {} : { because: `it may match this rule that says ${effect}: ${unclear(access)}` };
      askDecision = { effect: 'ask', rule: text, origin: from, ...because, isUncertain: effect === 'deny' };
    }
  }
  if (askDecision !== undefined) return askDecision;
  const allowed = findAllowRule(allows, access, names);
  if (allowed !== undefined) return { effect: 'allow', rule: allowed.text, origin: allowed.origin };
  if (isAlwaysOn || (hasPattern && runsNoProgram(access))) return { effect: 'allow', rule: undefined, origin };
  const because = isIgnoredRead(access)
    ? { because: 'git ignores this file' }
    : hasPattern
      ? explainMismatch(allows, access)
      : {};
  // An unknown effect denies: a program in JavaScript may pass any value.
  const effect = EFFECTS.find((known) => known === otherwise[defaultRisk(access)]) ?? 'deny';
  return { effect, rule: undefined, origin, ...because };
}

/** A policy has hundreds of rules, of which few are for one tool. `*` does not include the answer, which has no effect. */
function rulesForTool(rules: readonly PolicyRule[], tool: string): readonly PolicyRule[] {
  const known = RULES_BY_TOOL.get(rules) ?? new Map<string, readonly PolicyRule[]>();
  RULES_BY_TOOL.set(rules, known);
  const found =
    known.get(tool) ??
    rules.filter((rule) => (tool === 'final_answer' ? rule.tools.includes(tool) : appliesToTool(rule, tool)));
  if (known.size < MAX_TOOLS) known.set(tool, found);
  return found;
}

const RULES_BY_TOOL = new WeakMap<readonly PolicyRule[], Map<string, readonly PolicyRule[]>>();
/** Names of tools come from models as well. */
const MAX_TOOLS = 100;

/** A rule that allows the whole access. For a line whose commands are allowed by different rules, the rule of the last command. */
function findAllowRule(allows: readonly PolicyRule[], access: Access, names: SubjectNames): PolicyRule | undefined {
  const { subject } = access;
  const whole = allows.find((rule) => matchesAccess(rule, access, names) === 'yes');
  if (whole !== undefined || subject.kind !== 'command' || subject.line.type === 'unclear') return whole;
  const listed = commandRules(allows);
  const patterns = listed.map(({ pattern }) => pattern);
  if (missedCommand(patterns, subject) !== undefined) return undefined;
  const commands = subject.line.commands.flatMap(withInner);
  return listed.findLast(({ pattern }) => commands.some((command) => coversProgram(pattern, command)))?.rule;
}

function withInner(command: SimpleCommand): readonly SimpleCommand[] {
  return [command, ...command.inner.flatMap(withInner)];
}

interface CommandRule {
  readonly rule: PolicyRule;
  readonly pattern: CommandPattern;
}

function commandRules(rules: readonly PolicyRule[]): readonly CommandRule[] {
  return rules.flatMap((rule) => (rule.subjects?.kind === 'command' ? [{ rule, pattern: rule.subjects.pattern }] : []));
}

/** Most rules for commands name another program. */
function couldAllow({ subjects }: PolicyRule, { subject }: Access): boolean {
  return subject.kind !== 'command' || subjects?.kind !== 'command' || couldCover(subjects.pattern, subject.programs);
}

/** Explains which part of a command line is not allowed, and why. */
function explainMismatch(allows: readonly PolicyRule[], { subject }: Access): { readonly because?: string } {
  if (subject.kind !== 'command') return {};
  const { line, isContained, isUnisolated } = subject;
  if (line.type === 'unclear') return { because: line.reason };
  if (isUnisolated)
    return { because: 'nothing isolates the program, so that only a rule with exactly this line allows it' };
  if (line.variables.length > 0 && !isContained)
    return {
      because: `it sets ${line.variables.slice(0, 3).map(printable).join(', ')}, and the program is not contained`,
    };
  const missed = missedCommand(
    commandRules(allows).map(({ pattern }) => pattern),
    subject,
  );
  if (missed === undefined || missed === 'line') return {};
  return { because: missed.hides ?? `no rule covers ${quoted(missed.words.map(({ text }) => text).join(' '))}` };
}

function unclear({ subject }: Access): string {
  if (subject.kind !== 'command') return 'it runs code that is not a command line';
  if (subject.line.type === 'unclear') return subject.line.reason;
  return (
    subject.line.commands.flatMap(withInner).find(({ hides }) => hides !== undefined)?.hides ?? 'a word is computed'
  );
}

function explain({ effect, rule, origin, because, isUncertain }: LayerDecision, access: Access): Decision {
  const { tool } = access;
  const who = origin.where === '' ? origin.layer : `${origin.layer} (${printable(origin.where)})`;
  const verb = { allow: 'is allowed', ask: 'needs approval', deny: 'is not allowed' }[effect];
  const why = because === undefined ? '' : `: ${because}`;
  const reason = `${tool} ${verb} ${ruleText(rule, origin, who)}${why}`;
  const risk = isUncertain === true || (isEdit(access) && rule !== undefined) ? 'high' : accessRisk(access);
  return { effect, tool, risk, rule: rule ?? BY_DEFAULT, origin, reason };
}

function ruleText(rule: string | undefined, { layer }: Decision['origin'], who: string): string {
  if (rule !== undefined) return `by the rule ${quoted(rule, 120)} of ${who}`;
  return layer === 'skill' ? `because it is not in allowed-tools of ${who}` : `by default, ${who}`;
}

interface RankedEffect {
  readonly effect: Decision['effect'];
  readonly rule: string | undefined;
}

/** Whether `a` is stricter; an `ask` by a rule outweighs an `ask` by default, because it also applies to requests of a person. */
function outweighs(a: RankedEffect, b: RankedEffect): boolean {
  if (a.effect !== b.effect) return EFFECTS.indexOf(a.effect) < EFFECTS.indexOf(b.effect);
  return a.effect === 'ask' && isByRule(a) && !isByRule(b);
}

function isByRule({ rule }: RankedEffect): boolean {
  return rule !== undefined && rule !== BY_DEFAULT;
}
