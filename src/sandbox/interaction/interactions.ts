import { invalidInput, quoted, SkillError, type AttachedWorkspace, type ProgramSpec } from '#core';
import { Interaction, KILL_GRACE_MS, type InteractionView } from './interaction.ts';

export interface ViewOptions {
  /** Maximum time to wait for output. */
  readonly yieldMs?: number;
  /** Maximum lines of output. */
  readonly pollLines?: number;
  /** Cancels the wait, not the program, unless the program was just being started. */
  readonly signal?: AbortSignal;
}

export interface StartOptions extends ViewOptions {
  /** Requests a terminal; pipes are used where the executor has none. */
  readonly terminal?: boolean;
  /** Ends the program after this time without output and without requests. */
  readonly idleMs?: number;
  /** Time limit of the session; never more than the time limit of the program. */
  readonly totalMs?: number;
}

export interface WriteOptions extends ViewOptions {
  readonly chars?: string;
  /** Sends the Enter key after `chars`. */
  readonly submit?: boolean;
}

export interface InteractionSummary {
  readonly sessionId: string;
  readonly status: 'running' | 'exited';
  readonly command: string;
  readonly startedAt: number;
}

export interface KilledInteraction {
  readonly ok: boolean;
  readonly sessionId: string;
  /** `exited`: it had already ended. */
  readonly status: 'exited' | 'killed';
}

/** Interactive programs by id. Calls with an unknown or ended id fail with a list of the open ones. */
export interface Interactions {
  start(attached: AttachedWorkspace, spec: ProgramSpec, options?: StartOptions): Promise<InteractionView>;
  write(id: string, options?: WriteOptions): Promise<InteractionView>;
  poll(id: string, options?: ViewOptions): Promise<InteractionView>;
  kill(id: string): Promise<KilledInteraction>;
  list(): readonly InteractionSummary[];
  /** Ends every program. May be called twice. */
  close(): Promise<void>;
}

export interface InteractionsOptions {
  /** Clock in milliseconds, for the expiry of ended sessions. */
  readonly now: () => number;
  readonly newId: () => string;
  readonly maxRunning?: number;
}

const START_YIELD_MS = 1000;
const YIELD_MS = 400;
const POLL_LINES = 40;
const MAX_YIELD_MS = 600_000;
const MAX_POLL_LINES = 20_000;
const IDLE_MS = 10 * 60_000;
/** Ended sessions are kept this long, so that their last lines can be read. */
const ENDED_TTL_MS = 30 * 60_000;
const MAX_ENDED = 16;
const MAX_RUNNING = 8;
const MAX_WRITE = 64 * 1024;
const END_OF_INPUT = '\u0004';

interface Entry {
  readonly interaction: Interaction;
  readonly command: string;
  readonly startedAt: number;
  overSince: number | undefined;
}

export function openInteractions({ now, newId, maxRunning = MAX_RUNNING }: InteractionsOptions): Interactions {
  const entries = new Map<string, Entry>();
  let starting = 0;
  let isClosed = false;

  const forgetOld = (): void => {
    const over = [...entries].filter(([, { interaction }]) => interaction.isOver);
    for (const [, entry] of over) entry.overSince ??= now();
    const kept = over.slice(-MAX_ENDED);
    for (const [id, { overSince = 0 }] of over) {
      if (now() - overSince >= ENDED_TTL_MS || !kept.some(([each]) => each === id)) entries.delete(id);
    }
  };
  const idsOf = (isOver: boolean): readonly string[] =>
    [...entries.values()]
      .filter(({ interaction }) => interaction.isOver === isOver)
      .map(({ interaction }) => interaction.id);
  const find = (id: string): Interaction => {
    forgetOld();
    const entry = entries.get(id);
    if (entry === undefined) throw unknownSession(id, [...entries.keys()]);
    return entry.interaction;
  };
  const waitAndView = async (
    interaction: Interaction,
    options: ViewOptions,
    isAnswer: boolean,
  ): Promise<InteractionView> => {
    const lines = within(options.pollLines ?? POLL_LINES, 1, MAX_POLL_LINES);
    const yieldMs = within(options.yieldMs ?? YIELD_MS, 0, MAX_YIELD_MS);
    await interaction.wait({ yieldMs, lines, mustBeNew: isAnswer, signal: options.signal });
    return interaction.view(lines);
  };

  return {
    async start(attached, spec, options = {}) {
      forgetOld();
      if (isClosed) throw invalidInput('the sessions are closed', 'open sessions', 'start a new runtime');
      const running = idsOf(false);
      if (running.length + starting >= maxRunning) throw tooMany(running, maxRunning);
      if (attached.start === undefined) throw noInteraction(attached);
      options.signal?.throwIfAborted();
      const hasTerminal = attached.capabilities.hasTerminal;
      const terminal = options.terminal === true && hasTerminal;
      const totalMs = Math.min(options.totalMs ?? Infinity, spec.limits.wallMs);
      const interaction = new Interaction(newId(), {
        terminal,
        idleMs: options.idleMs ?? IDLE_MS,
        totalMs,
        warnings:
          options.terminal === true && !hasTerminal ? ['this executor has no terminal; pipes are used instead'] : [],
      });
      starting += 1;
      try {
        const { stdout, stderr } = interaction;
        const limits = { ...spec.limits, wallMs: totalMs };
        const program = await attached.start({ ...spec, limits }, { stdout, stderr, terminal });
        interaction.attach(program);
      } finally {
        starting -= 1;
      }
      const command = quoted(spec.argv.join(' '), 200);
      entries.set(interaction.id, { interaction, command, startedAt: now(), overSince: undefined });
      try {
        if (isClosed) throw invalidInput('the sessions are closed', 'open sessions', 'start a new runtime');
        return await waitAndView(interaction, { ...options, yieldMs: options.yieldMs ?? START_YIELD_MS }, false);
      } catch (error) {
        // The caller never learns its id.
        interaction.stop('cancelled');
        throw error;
      }
    },
    async write(id, options = {}) {
      const { chars = '', submit = false } = options;
      const interaction = find(id);
      if (chars === '' && !submit) return await waitAndView(interaction, options, false);
      if (interaction.isOver) throw isOver(id, idsOf(false));
      if (chars.length > MAX_WRITE) throw tooLong(chars.length);
      // Without a terminal, ^D has to close the input here.
      if (!interaction.terminal && chars === END_OF_INPUT) interaction.closeInput();
      else interaction.write(new TextEncoder().encode(submit ? chars + (interaction.terminal ? '\r' : '\n') : chars));
      return await waitAndView(interaction, options, true);
    },
    poll: async (id, options = {}) => await waitAndView(find(id), options, false),
    async kill(id) {
      const interaction = find(id);
      if (interaction.isOver) return { ok: true, sessionId: id, status: 'exited' };
      interaction.stop('cancelled');
      return { ok: await interaction.whenOver(KILL_GRACE_MS), sessionId: id, status: 'killed' };
    },
    list() {
      forgetOld();
      return [...entries].map(([sessionId, { interaction, command, startedAt }]) => ({
        sessionId,
        status: interaction.isOver ? 'exited' : 'running',
        command,
        startedAt,
      }));
    },
    async close() {
      isClosed = true;
      const running = [...entries.values()].map(({ interaction }) => interaction);
      for (const interaction of running) interaction.stop('cancelled');
      await Promise.all(running.map(async (interaction) => await interaction.whenOver(KILL_GRACE_MS)));
      entries.clear();
    },
  };
}

function within(value: number, least: number, most: number): number {
  return Math.min(Math.max(Math.trunc(value), least), most);
}

function named(ids: readonly string[]): string {
  return ids.length === 0 ? 'no session is open' : `open sessions: ${ids.join(', ')}`;
}

function unknownSession(id: string, known: readonly string[]): SkillError<'input/invalid'> {
  return invalidInput(
    `unknown session ${quoted(id)}; ${named(known)}`,
    ['the id of an open session', ...known].join(', '),
    'start a program, or use the id of an open session',
  );
}

function isOver(id: string, running: readonly string[]): SkillError<'input/invalid'> {
  return invalidInput(
    `the program of session ${quoted(id)} has ended and accepts no input; ${named(running)}`,
    ['the id of a running session', ...running].join(', '),
    'poll it for its last output, or start the program again',
  );
}

function tooMany(running: readonly string[], most: number): SkillError<'input/invalid'> {
  return invalidInput(
    `${String(most)} interactive programs are running, which is the limit; ${named(running)}`,
    `at most ${String(most)} programs at a time`,
    'end one of them first',
  );
}

function tooLong(length: number): SkillError<'input/invalid'> {
  const expected = `at most ${String(MAX_WRITE)} characters`;
  return invalidInput(
    `the input has ${String(length)} characters; the limit is ${String(MAX_WRITE)}`,
    expected,
    'send the input in several parts',
  );
}

function noInteraction({ capabilities }: AttachedWorkspace): SkillError<'executor/unavailable'> {
  return new SkillError({
    code: 'executor/unavailable',
    message: 'this executor does not support interactive programs',
    hint: 'pass the whole input with the command and run it to its end',
    data: { executor: capabilities.isolation, reasons: ['it does not support interactive programs'], install: '' },
  });
}
