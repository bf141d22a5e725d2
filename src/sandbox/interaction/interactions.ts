import { invalidInput, quoted, SkillError, type AttachedWorkspace, type ProgramSpec } from '#core';
import { openInteraction, type Interaction, type InteractionView } from './interaction.ts';

interface ViewOptions {
  /** Maximum time to wait for output. */
  readonly yieldMs?: number;
  /** Maximum lines of output. */
  readonly pollLines?: number;
  /** Cancels the wait, not the program, unless the program was just being started. */
  readonly signal?: AbortSignal;
}

interface StartOptions extends ViewOptions {
  /** Requests a terminal; pipes are used where the executor has none. */
  readonly terminal?: boolean;
  /** Ends the program after this time without output and without requests. */
  readonly idleMs?: number;
}

interface WriteOptions extends ViewOptions {
  readonly chars?: string;
  /** Sends the Enter key after `chars`. */
  readonly submit?: boolean;
}

/** Interactive programs by id. Calls with an unknown or ended id fail with a list of the open ones. */
export interface Interactions {
  start(attached: AttachedWorkspace, spec: ProgramSpec, options?: StartOptions): Promise<InteractionView>;
  /** Sends input, if there is any, and waits for output. */
  write(id: string, options?: WriteOptions): Promise<InteractionView>;
  /** `exited`: it had already ended. */
  kill(id: string): Promise<'exited' | 'killed'>;
  /** Ends every program. May be called twice. */
  close(): Promise<void>;
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
const KILL_GRACE_MS = 2000;
const END_OF_INPUT = '\u0004';

/** `now` is a clock in milliseconds, for the expiry of ended sessions. */
export function openInteractions({
  now,
  newId,
}: {
  readonly now: () => number;
  readonly newId: () => string;
}): Interactions {
  const known = new Map<string, Interaction>();
  let starting = 0;
  let isClosed = false;

  const listKnown = (isOver: boolean): readonly Interaction[] =>
    [...known.values()].filter(({ overSince }) => (overSince !== undefined) === isOver);
  const runningIds = (): readonly string[] => listKnown(false).map(({ id }) => id);
  const forgetOld = (): void => {
    const over = listKnown(true);
    for (const [at, { id, overSince = 0 }] of over.entries())
      if (now() - overSince >= ENDED_TTL_MS || at < over.length - MAX_ENDED) known.delete(id);
  };
  const find = (id: string): Interaction => {
    forgetOld();
    const interaction = known.get(id);
    if (interaction === undefined) throw unknownSession(id, [...known.keys()]);
    return interaction;
  };
  const refuseClosed = (): void => {
    if (isClosed) throw invalidInput('the sessions are closed', 'open sessions', 'start a new runtime');
  };
  const waitAndView = async (
    interaction: Interaction,
    { pollLines = POLL_LINES, yieldMs = YIELD_MS, signal }: ViewOptions,
    isAnswer: boolean,
  ): Promise<InteractionView> => {
    const lines = within(pollLines, 1, MAX_POLL_LINES);
    await interaction.wait({ yieldMs: within(yieldMs, 0, MAX_YIELD_MS), lines, mustBeNew: isAnswer, signal });
    return interaction.view(lines);
  };

  return {
    async start(attached, spec, options = {}) {
      forgetOld();
      refuseClosed();
      const running = runningIds();
      if (running.length + starting >= MAX_RUNNING) throw tooMany(running);
      if (attached.start === undefined) throw noInteraction(attached);
      options.signal?.throwIfAborted();
      const isAsked = options.terminal === true;
      const terminal = isAsked && attached.capabilities.hasTerminal;
      const warnings = isAsked && !terminal ? ['this executor has no terminal; pipes are used instead'] : [];
      const interaction = openInteraction({ id: newId(), terminal, idleMs: options.idleMs ?? IDLE_MS, now, warnings });
      starting += 1;
      try {
        const { stdout, stderr } = interaction;
        interaction.attach(await attached.start(spec, { stdout, stderr, terminal }));
      } finally {
        starting -= 1;
      }
      known.set(interaction.id, interaction);
      try {
        refuseClosed();
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
      if (interaction.overSince !== undefined) throw isOver(id, runningIds());
      if (chars.length > MAX_WRITE) throw tooLong(chars.length);
      // Without a terminal, ^D has to close the input here.
      if (!interaction.terminal && chars === END_OF_INPUT) interaction.closeInput();
      else interaction.write(new TextEncoder().encode(submit ? chars + (interaction.terminal ? '\r' : '\n') : chars));
      return await waitAndView(interaction, options, true);
    },
    async kill(id) {
      const interaction = find(id);
      if (interaction.overSince !== undefined) return 'exited';
      interaction.stop('cancelled');
      await interaction.whenOver(KILL_GRACE_MS);
      return 'killed';
    },
    async close() {
      isClosed = true;
      const all = [...known.values()];
      for (const interaction of all) interaction.stop('cancelled');
      await Promise.all(all.map((interaction) => interaction.whenOver(KILL_GRACE_MS)));
      known.clear();
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

function tooMany(running: readonly string[]): SkillError<'input/invalid'> {
  return invalidInput(
    `${String(MAX_RUNNING)} interactive programs are running, which is the limit; ${named(running)}`,
    `at most ${String(MAX_RUNNING)} programs at a time`,
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
