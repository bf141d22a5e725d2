/** The slash commands of a chat. */
import type { openChat } from '#agent';
import {
  cleanText,
  countText,
  describeAction,
  describeOutcome,
  durationText,
  isForModel,
  isSkillError,
  printable,
  shownText,
  type Action,
} from '#core';
import { parseInvocation, type Runtime } from '#runtime';
import { planLines } from './show-agent.ts';
import { undoneLines } from '../runs/undo-run.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { fitText } from '#platform';

export interface ChatCommandParts {
  readonly chat: ReturnType<typeof openChat>;
  readonly runtime: Pick<Runtime, 'index' | 'find'>;
  readonly terminal: Terminal;
  /** Opens another model for the next messages and returns its id; without a name, returns the id of the current one. */
  readonly model: (name?: string) => Promise<string>;
}

/** `send`: the line is a message for the agent. `said`: the lines to print instead. */
export type Handled =
  | { readonly type: 'send' }
  | { readonly type: 'said'; readonly lines: readonly string[] }
  | { readonly type: 'quit' };

type ChatCommand = (parts: ChatCommandParts, argument: string) => readonly string[] | Promise<readonly string[]>;

const COMMANDS: Readonly<Record<string, readonly [about: string, run: ChatCommand]>> = {
  skills: ['list the skills; /NAME ARGUMENTS invokes one', skillLines],
  model: ['show the model; /model NAME uses another one for the next messages', modelLines],
  plan: ['show the current plan', formatPlan],
  cost: ['show what this chat used, and the tokens spent on skills', costLines],
  undo: ['remove the last message and its answer, and restore the files it changed', undoLines],
  help: ['show this help', helpLines],
};

/** Handles a typed line. A mistyped skill name is reported to the user and never sent to the model. */
export async function handleLine(line: string, parts: ChatCommandParts): Promise<Handled> {
  const called = parseInvocation(line);
  if (called === undefined) return { type: 'send' };
  if (called.name === 'quit' || called.name === 'exit') return { type: 'quit' };
  const command = Object.hasOwn(COMMANDS, called.name) ? COMMANDS[called.name] : undefined;
  try {
    if (command !== undefined) return { type: 'said', lines: await command[1](parts, called.arguments) };
    parts.runtime.find(called.name);
    return { type: 'send' };
  } catch (error) {
    if (!isSkillError(error)) throw error;
    const near = completeCommand(`/${called.name}`, parts.runtime).map((one) => one.trim());
    const hint = near.length === 0 ? error.hint : `did you mean ${near.join(' or ')}?`;
    return { type: 'said', lines: [error.message, `${hint} (/help lists the commands)`] };
  }
}

export function completeCommand(line: string, { index }: Pick<Runtime, 'index'>): readonly string[] {
  if (!line.startsWith('/') || /\s/.test(line)) return [];
  const skills = index.skills.filter(({ controls }) => controls.userInvocable).map(({ name }) => printable(name));
  return [...Object.keys(COMMANDS), 'quit', ...skills].map((name) => `/${name} `).filter((one) => one.startsWith(line));
}

async function modelLines({ model }: ChatCommandParts, name: string): Promise<readonly string[]> {
  if (name === '') return [`model ${printable(await model())}; /model NAME uses another one`];
  return [`model ${printable(await model(name))} from the next message on`];
}

/** Descriptions begin in the same column unless a name is longer. */
const MAX_NAME_COLUMN = 30;

function skillLines({ runtime, terminal }: ChatCommandParts): readonly string[] {
  const { skills } = runtime.index;
  if (skills.length === 0) return ['no skills found; see skillwright list'];
  const lines = skills.map(({ name, description, state, controls }) => {
    const isForModelToo = isForModel(state) && !controls.disableModelInvocation;
    const who = !controls.userInvocable ? ' (model only)' : isForModelToo ? '' : ' (user only)';
    return { invoked: `/${printable(name)}${who}`, about: cleanText(description).replaceAll(/\s+/g, ' ') };
  });
  const widest = Math.min(MAX_NAME_COLUMN, Math.max(...lines.map(({ invoked }) => invoked.length)));
  return lines.map(({ invoked, about }) => fitText(`${invoked.padEnd(widest)}  ${about}`, terminal.width - 1));
}

function formatPlan({ chat: { plan }, terminal }: ChatCommandParts): readonly string[] {
  if (plan === undefined) return ['no plan yet'];
  return [`goal: ${shownText(plan.goal)}`, ...planLines(undefined, plan, terminal)];
}

function costLines({ chat: { used, ledger, said } }: ChatCommandParts): readonly string[] {
  const spent = [
    countText(said.length, 'message'),
    countText(used.turns, 'turn'),
    `about ${countText(used.tokens, 'token')}`,
    countText(used.toolCalls, 'tool call'),
    countText(used.scriptRuns, 'program'),
    durationText(used.wallMs),
  ];
  if (ledger === undefined) return [spent.join(', ')];
  return [
    spent.join(', '),
    `skills: about ${countText(ledger.totalTokens, 'token')} shown to the model:`,
    ...ledger.rows.map(
      ({ totalTokens, skill, path, reason }) =>
        `${String(totalTokens).padStart(8)}  ${printable(skill || 'catalog')}${path === '' ? '' : ` ${printable(path)}`} (${reason})`,
    ),
  ];
}

/** Actions whose effects outside of the conversation cannot be restored. */
const OUTSIDE_EFFECTS: ReadonlySet<Action['type']> = new Set([
  'run_script',
  'run_command',
  'start_command',
  'write_input',
  'network_request',
  'call_mcp_tool',
]);

function undoLines({ chat }: ChatCommandParts): readonly string[] {
  const undone = chat.undo();
  if (undone === undefined) return ['nothing to undo'];
  const { message, actions, files, run, project } = undone;
  const ran = actions.filter(({ action }) => OUTSIDE_EFFECTS.has(action.type));
  return [
    `removed: ${shownText(message)}`,
    ...undoneLines(files, { project }),
    ...(run === undefined
      ? []
      : [`its files were not restored: skillwright runs undo ${run} restores those of the whole run`]),
    ...(ran.length === 0 ? [] : ['not undone:']),
    ...ran.map(
      ({ action, tool, observation }) =>
        `  ${describeAction(action, tool)}: ${describeOutcome(observation, false).text}`,
    ),
  ];
}

function helpLines(): readonly string[] {
  return [
    ...Object.entries(COMMANDS).map(([name, [about]]) => `/${name.padEnd(8)}${about}`),
    '/quit    end the chat; also Ctrl-D, or Ctrl-C twice on an empty line',
    'Tab completes commands, skills and @files. @FILE outside of the project is copied into the workspace after a question.',
    'Ctrl-C stops the current work, not the chat; twice ends the chat. Ctrl-O shows the last output line of a program.',
    'Pasted text is one message, line breaks included; a pasted or dropped file becomes @FILE.',
  ];
}
