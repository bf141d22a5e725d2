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
import { checkpointLines, compactLines, diffLinesOf, messagesFrom } from './chat-checkpoints.ts';
import { SHELL_NOTE } from './chat-shell.ts';
import { planLines } from './show-agent.ts';
import { undoneLines } from '../runs/undo-run.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { fitText } from '#platform';

export interface ChatCommandParts {
  readonly chat: ReturnType<typeof openChat>;
  readonly runtime: Pick<Runtime, 'index' | 'find'>;
  readonly terminal: Terminal;
  /** The folder of the project. */
  readonly project: string;
  /** What the models of this chat cost so far, in words. */
  readonly money: () => Promise<readonly string[]>;
  /** Opens another model for the next messages and returns its id; without a name, returns the id of the current one. */
  readonly model: (name?: string) => Promise<string>;
}

/** `send`: the line is a message for the agent. `said`: the lines to print instead, and the text to edit next. */
export type Handled =
  | { readonly type: 'send' }
  | { readonly type: 'said'; readonly lines: readonly string[]; readonly next?: string }
  | { readonly type: 'quit' };

type Said = readonly string[] | { readonly lines: readonly string[]; readonly next: string };
type ChatCommand = (parts: ChatCommandParts, argument: string) => Said | Promise<Said>;

const COMMANDS: Readonly<Record<string, readonly [about: string, run: ChatCommand]>> = {
  skills: ['list the skills; /NAME ARGUMENTS invokes one', skillLines],
  model: ['show the model; /model NAME uses another one for the next messages', modelLines],
  plan: ['show the current plan', formatPlan],
  cost: ['show what this chat used and cost, and the tokens spent on skills', costLines],
  undo: ['remove the last message and its answer, and restore the files it changed', (parts) => undoLines(parts)],
  rewind: ['list the messages; /rewind N goes back to before message N, files and conversation', rewind],
  diff: ['show what the agent changed in files; /diff N: since message N', diffLinesOf],
  compact: ['shorten the conversation now; loaded skills and the plan stay', compactLines],
  help: ['show this help', helpLines],
};

/** Handles a typed line. A mistyped skill name is reported to the user and never sent to the model. */
export async function handleLine(line: string, parts: ChatCommandParts): Promise<Handled> {
  const called = parseInvocation(line);
  if (called === undefined) return { type: 'send' };
  if (called.name === 'quit' || called.name === 'exit') return { type: 'quit' };
  const command = Object.hasOwn(COMMANDS, called.name) ? COMMANDS[called.name] : undefined;
  try {
    if (command !== undefined) {
      const said = await command[1](parts, called.arguments);
      return { type: 'said', ...('lines' in said ? said : { lines: said }) };
    }
    parts.runtime.find(called.name);
    return { type: 'send' };
  } catch (error) {
    if (!isSkillError(error)) throw error;
    const near = completeCommand(`/${called.name}`, parts.runtime).map((one) => one.trim());
    const hint = near.length === 0 ? error.hint : `did you mean ${near.join(' or ')}?`;
    return { type: 'said', lines: [error.message, `${hint} (/help lists the commands)`] };
  }
}

export function completeCommand(line: string, runtime: Pick<Runtime, 'index'>): readonly string[] {
  if (!line.startsWith('/') || /\s/.test(line)) return [];
  const names = [...[...Object.keys(COMMANDS), 'quit'].map((name) => `/${name}`), ...invocable(runtime)];
  return names.map((name) => `${name} `).filter((one) => one.startsWith(line));
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

async function costLines({ chat: { used, ledger, said }, money }: ChatCommandParts): Promise<readonly string[]> {
  const spent = [
    countText(said.length, 'message'),
    countText(used.turns, 'turn'),
    `about ${countText(used.tokens, 'token')}`,
    countText(used.toolCalls, 'tool call'),
    countText(used.scriptRuns, 'program'),
    durationText(used.wallMs),
  ];
  const lines = [spent.join(', '), ...(await money())];
  if (ledger === undefined) return lines;
  return [
    ...lines,
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

/** Goes back, and returns the message that was removed, so that the user can change it and send it again. */
function rewind(parts: ChatCommandParts, argument: string): Said {
  if (argument === '') return checkpointLines(parts);
  const count = messagesFrom(parts.chat, argument, 'rewind');
  const [next = ''] = parts.chat.said.at(-count)?.message.split(`\n\n${SHELL_NOTE}`) ?? [];
  return { lines: undoLines(parts, count), next };
}

function undoLines({ chat }: ChatCommandParts, count = 1): readonly string[] {
  const undone = chat.undo(count);
  if (undone === undefined) return ['nothing to undo'];
  const { message, actions, files, run, project } = undone;
  const ran = actions.filter(({ action }) => OUTSIDE_EFFECTS.has(action.type));
  return [
    `removed: ${shownText(message)}${count === 1 ? '' : ` and ${countText(count - 1, 'later message')}`}`,
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

function helpLines({ runtime }: ChatCommandParts): readonly string[] {
  const skills = invocable(runtime);
  const more = skills.length > MAX_HELP_SKILLS ? ', ...' : '';
  return [
    ...Object.entries(COMMANDS).map(([name, [about]]) => `/${name.padEnd(8)}${about}`),
    '/quit    end the chat; also Ctrl-D, or Ctrl-C twice on an empty line',
    ...(skills.length === 0
      ? []
      : [`/NAME    invoke a skill with arguments: ${skills.slice(0, MAX_HELP_SKILLS).join(', ')}${more}`]),
    '!COMMAND run a command in the project yourself, outside of the sandbox; the model reads its output with your next message',
    '@FILE    name a file, or @SKILL to load a skill. A file outside of the project is copied into the workspace after a question.',
    'Tab completes all of these. Ctrl-R searches earlier messages. Alt-Enter, or \\ before Enter, starts another line (␤).',
    'What you type while the agent works is sent when it is done. Shift-Tab switches between ask, accept edits and read only.',
    'Ctrl-C stops the current work, not the chat; twice ends the chat. Ctrl-O shows the last output line of a program.',
    'Pasted text is one message, line breaks included; a pasted or dropped file becomes @FILE.',
  ];
}

const MAX_HELP_SKILLS = 8;

function invocable({ index }: Pick<Runtime, 'index'>): readonly string[] {
  return index.skills.filter(({ controls }) => controls.userInvocable).map(({ name }) => `/${printable(name)}`);
}
