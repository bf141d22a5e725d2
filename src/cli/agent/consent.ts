/** Asks once about the untrusted skills of a project before a command uses them; names them if no terminal is available. */
import { countText, isSkillError, printable, serverOfSource, shownText, type SkillEntry } from '#core';
import { openTrust } from '#policy';
import { projectTop, reviewSkills, type Distrust, type Runtime } from '#runtime';
import { toggle, type Flags, type GlobalInvocation } from '../command.ts';
import { projectLine, reviewLines, reviewedSkills } from '../govern/trust-question.ts';
import { askStreams, choose, isTerminal } from '../terminal/ask.ts';
import { reportHint, reportWarning, type Terminal } from '../terminal/terminal.ts';

export const TRUST_FLAGS = {
  'trust-project': toggle('use the untrusted skills of this project too, in this run only (for CI)'),
} as const satisfies Flags;

/** A skill that the command does not use because it is untrusted. */
export interface HiddenSkill extends Distrust {
  readonly name: string;
  readonly source: string;
  readonly dir: string;
}

interface ConsentInvocation extends GlobalInvocation {
  readonly flags: GlobalInvocation['flags'] & { readonly 'trust-project'?: boolean };
}

/** Decides about the untrusted ones of these skills. Returns those that stay hidden; stderr already names them. */
export async function askForTrust(
  invocation: ConsentInvocation,
  runtime: Runtime,
  skills: readonly SkillEntry[] = skillsToTrust(runtime),
): Promise<readonly HiddenSkill[]> {
  const { flags, terminal, signal } = invocation;
  const usable = skills.filter(({ state }) => state !== 'disabled');
  const distrusted = await runtime.distrust(usable, { files: true });
  const untrusted = usable.filter(({ dir }) => distrusted.has(dir));
  if (untrusted.length === 0) return [];
  // Skills of MCP servers do not come with the project.
  const ofProject = untrusted.filter(({ source }) => serverOfSource(source) === undefined);
  if (flags['trust-project'] === true && ofProject.length > 0) {
    runtime.vouch(ofProject);
    terminal.remark(`--trust-project: using ${namesText(ofProject)} of this project in this run`);
    const served = untrusted.filter((skill) => !ofProject.includes(skill));
    return served.length === 0 ? [] : askForTrust(invocation, runtime, served);
  }
  const streams = askStreams(process);
  const reviewed = isTerminal(streams) ? await reviewSkills(untrusted, signal) : [];
  const trustable = reviewed.filter(({ digest }) => digest !== undefined);
  const answer = trustable.length === 0 ? 'no' : await ask(invocation, reviewed, distrusted);
  signal.throwIfAborted();
  const isTrusted = answer === 'yes' || answer === 'own';
  if (isTrusted) {
    await store(invocation, trustable, answer === 'own');
    const isKept = (await runtime.distrust(untrusted, { files: true })).size < untrusted.length;
    // Without a place to store the answer it holds for this run.
    if (!isKept) runtime.vouch(untrusted.filter(({ dir }) => trustable.some((skill) => skill.dir === dir)));
  }
  const left = isTrusted ? await runtime.distrust(untrusted, { files: true }) : distrusted;
  const hidden = untrusted.flatMap(({ name, source, dir }): readonly HiddenSkill[] => {
    const distrust = left.get(dir);
    return distrust === undefined ? [] : [{ name, source, dir, ...distrust }];
  });
  if (hidden.length > 0) warnHidden(hidden, terminal);
  return hidden;
}

/** The skills that a model may get, and those whose names trusted skills have until they are trusted, too. */
function skillsToTrust({ index: { skills, all, shadowed } }: Runtime): readonly SkillEntry[] {
  const hidden = new Set(shadowed.filter(({ reason }) => reason === 'untrusted').map(({ dir }) => dir));
  return [...skills, ...all.filter(({ dir }) => hidden.has(dir))];
}

type Answer = 'yes' | 'own' | 'no';

async function ask(
  { terminal, signal, surroundings: { cwd, home } }: ConsentInvocation,
  skills: Awaited<ReturnType<typeof reviewSkills>>,
  distrusted: ReadonlyMap<string, Distrust>,
): Promise<Answer> {
  const remarks = new Map(
    [...distrusted].flatMap(([dir, { why }]) => (why === 'changed' ? [[dir, 'changed since you trusted it']] : [])),
  );
  const count = countText(skills.length, 'skill');
  terminal.err([
    `${terminal.style('yellow', `${count} of this project ${skills.length === 1 ? 'is' : 'are'} not trusted yet`)}.`,
    projectLine(projectTop({ cwd, home }) ?? cwd),
    ...reviewLines({ skills, remarks }, terminal),
  ]);
  return choose<Answer>(
    askStreams(process),
    {
      text: `Trust the ${count} of this project?`,
      choices: [
        { key: 'y', about: 'yes, as they are now', answer: 'yes' },
        { key: 'm', about: 'my own: also after edits', answer: 'own' },
        { key: 'n', about: 'no', answer: 'no' },
      ],
      otherwise: 'no',
    },
    { signal },
  );
}

async function store(
  { surroundings: { home }, terminal }: ConsentInvocation,
  skills: Awaited<ReturnType<typeof reviewSkills>>,
  isOwn: boolean,
): Promise<void> {
  try {
    await openTrust({ home, bind: 'digest' }).trustSkills(reviewedSkills(skills, isOwn));
  } catch (error) {
    if (!isSkillError(error)) throw error;
    reportWarning(terminal, `the answer holds for this run only: ${printable(error.message)}`);
  }
}

function warnHidden(hidden: readonly HiddenSkill[], terminal: Terminal): void {
  reportWarning(terminal, hiddenText(hidden));
  reportHint(terminal, `${trustCommands(hidden)}, or pass --trust-project`);
}

function hiddenText(hidden: readonly HiddenSkill[]): string {
  const are = hidden.length === 1 ? 'is' : 'are';
  return `${countText(hidden.length, 'skill')} ${are} hidden until you trust this project: ${namesText(hidden)}`;
}

/** The part of the answer of `run` that names the hidden skills. */
export function answerNote(hidden: readonly HiddenSkill[]): string {
  return `Note: ${hiddenText(hidden)}. To use ${hidden.length === 1 ? 'it' : 'them'}, ${trustCommands(hidden)}`;
}

export function trustCommands(hidden: readonly HiddenSkill[]): string {
  const commands = [...new Set(hidden.map(({ command }) => command))].slice(0, 3);
  return `review and trust: ${commands.map((command) => printable(command)).join('; ')}`;
}

const MAX_NAMES = 12;

function namesText(skills: readonly Pick<SkillEntry, 'name'>[]): string {
  const names = skills.slice(0, MAX_NAMES).map(({ name }) => shownText(name, 64));
  const more = skills.length - names.length;
  return `${names.join(', ')}${more === 0 ? '' : ` and ${String(more)} more`}`;
}
