/**
 * Skills for an agent of one's own: `openSkills` reads the named sources once, and each conversation has its own state. Everything is built
 * on a runtime and its sessions; this part chooses what suits a program that embeds them.
 */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';

import {
  defined,
  invalidInput,
  isForModel,
  isSkillError,
  SkillError,
  type Config,
  type Vocabulary,
  type VocabularyName,
} from '#core';
import { createRuntime } from '#packs';
import type { Runtime, SessionOptions } from '#runtime';
import type { ExecutionOptions } from '#sandbox';
import { chooseProfile } from '#tools/profiles';
import { openVocabulary } from '#tools';
import { withBriefResults } from './brief-results.ts';
import {
  startConversation,
  type AnswerQuestion,
  type Conversation,
  type ConversationOptions,
  type ProgramOutput,
} from './conversation.ts';
import { withoutClauses, type HintTexts } from './embedder-hints.ts';
import { findProblems, type LibraryProblem } from './problems.ts';
import type { SkillSource } from './skill-source.ts';
import { stageSources, type StagedSources } from './stage-sources.ts';

/** How programs of skills run. */
export interface ExecuteOptions extends Pick<
  ExecutionOptions,
  | 'allowWeaker'
  | 'artifacts'
  | 'container'
  | 'env'
  | 'executor'
  | 'hostInputs'
  | 'limits'
  | 'mounts'
  | 'network'
  | 'packages'
> {
  /** Asked before each program, and before everything else that a rule asks about (default: programs run without a question). */
  readonly approve?: AnswerQuestion;
  /** Receives output while programs run. */
  readonly onOutput?: (output: ProgramOutput) => void;
}

export interface OpenSkillsOptions {
  /**
   * Where skills are: folders of skills, archives and addresses that `skillwright install` understands, `memorySkills([...])` and sources of
   * your own. Naming them is trusting them. Of skills with the same name, the first wins.
   */
  readonly from: string | URL | SkillSource | readonly (string | URL | SkillSource)[];
  /**
   * Runs programs of skills in a sandbox; `true` with the defaults, `false` offers no tool that runs programs. Without it a vocabulary
   * decides: `trpc` offers them where an executor isolates them, the others do not.
   */
  readonly execute?: boolean | ExecuteOptions;
  /** The tools and the defaults of a built-in vocabulary, or a vocabulary of your own (default: `skillwright`). */
  readonly vocabulary?: VocabularyName | Vocabulary;
  /** `search` lists only pinned skills and lets the model search for the others; or the budget and format of the list. */
  readonly catalog?: SessionOptions['catalog'];
  /** Rules for all conversations: `deny` and `ask` restrict, `opens` allows what would be asked about. */
  readonly policy?: SessionOptions['policy'];
  /** Settings in place of configuration files, which are not read. */
  readonly config?: Config;
  /** What a model is told to do after a failure, by its code, in place of our texts. */
  readonly hints?: HintTexts;
  /** Where relative paths start (default: the working directory). */
  readonly cwd?: string;
  /** Keep an index between processes in the cache folder of the user (default: false). */
  readonly cache?: boolean;
}

/** Skills that conversations share. It changes only with `refresh`, and open conversations keep what they started with. */
export interface SkillLibrary {
  /** The skills that models are offered. */
  readonly skills: readonly { readonly name: string; readonly description: string; readonly source: string }[];
  /** What was named and is not used, or not as it is, each with the change of your program that uses it. */
  readonly problems: readonly LibraryProblem[];
  /** Opens a conversation, or returns the open one with this id. */
  conversation(options?: ConversationOptions): Promise<Conversation>;
  /** Reads the sources again, for conversations that start afterwards. */
  refresh(): Promise<void>;
  /** Closes all conversations and removes what was staged. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Opens skills for an agent of your own. Reads no configuration file, and makes no request unless `from` names an address. */
export async function openSkills(options: OpenSkillsOptions): Promise<SkillLibrary> {
  const { from, execute, cwd, config, hints = {}, cache = false, vocabulary = 'skillwright' } = options;
  const named: readonly (string | URL | SkillSource)[] = Array.isArray(from) ? from : [from];
  const sources = named.filter(isSource);
  const staged = await stageSources(sources);
  try {
    const toRoot = (one: string | URL | SkillSource): string | StagedSources['roots'][number] => {
      if (typeof one === 'string') return one;
      if (one instanceof URL) return one.protocol === 'file:' ? fileURLToPath(one) : one.href;
      return staged.roots[sources.indexOf(one)] ?? '';
    };
    const runtime = await createRuntime({
      ...defined({ cwd, config }),
      ...(typeof vocabulary === 'string' ? { vocabulary } : {}),
      roots: named.map(toRoot),
      onlyRoots: true,
      configFile: false,
      cache,
    });
    const isOffered = execute === undefined && chooseProfile(vocabulary, runtime).offersPrograms === true;
    const wanted = sessionOptions({ ...options, execute: isOffered || execute });
    const session = (await canStart(runtime, wanted, isOffered)) ? wanted : sessionOptions(options);
    return openLibrary({
      runtime,
      staged,
      sources,
      session,
      hints,
      execute: typeof execute === 'object' ? execute : {},
    });
  } catch (error) {
    staged.close();
    throw error;
  }
}

interface LibraryParts {
  readonly runtime: Runtime;
  readonly staged: StagedSources;
  readonly sources: readonly SkillSource[];
  readonly session: SessionOptions;
  readonly hints: HintTexts;
  readonly execute: ExecuteOptions;
}

function openLibrary({ runtime, staged, sources, session, hints, execute }: LibraryParts): SkillLibrary {
  const open = new Map<string, Promise<Conversation>>();
  let isClosed = false;
  // One after another: both would replace the same folders.
  let refreshed: Promise<void> = Promise.resolve();
  const refresh = async (): Promise<void> => {
    if (isClosed) throw closedLibrary();
    refreshed = refreshed
      .catch(() => undefined)
      .then(async () => {
        await staged.refresh();
        await runtime.refresh();
      });
    await refreshed;
  };
  const stops = sources.map((source) => source.watch?.(() => void refresh().catch(() => undefined)));
  const prepare: StagedSources['prepare'] = (action, signal) => staged.prepare(action, signal);
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    const ended = await Promise.allSettled([
      ...stops.map(async (stop) => stop?.()),
      ...[...open.values()].map(async (one) => (await one).close()),
    ]);
    staged.close();
    for (const one of ended) if (one.status === 'rejected') throw one.reason;
  };
  return {
    get skills() {
      return runtime.index.skills
        .filter(({ state }) => isForModel(state))
        .map(({ name, description, source }) => ({ name, description, source }));
    },
    get problems() {
      const found = findProblems(runtime).map((one) => ({
        ...one,
        path: staged.shown(one.path),
        message: staged.shown(one.message),
      }));
      return [...staged.problems, ...found];
    },
    conversation(options = {}) {
      if (isClosed) return Promise.reject(closedLibrary());
      const id = options.id ?? randomUUID();
      const known = open.get(id);
      if (known !== undefined) return known;
      const started = startConversation({
        id,
        runtime,
        session,
        hints,
        options,
        prepare,
        onOutput: execute.onOutput,
        approve: execute.approve,
        onClose: () => open.delete(id),
      });
      open.set(id, started);
      void started.catch(() => open.delete(id));
      return started;
    },
    refresh,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function closedLibrary(): SkillError {
  return invalidInput('the library is closed', 'an open library', 'open it again with openSkills');
}

function isSource(one: string | URL | SkillSource): one is SkillSource {
  return typeof one === 'object' && !(one instanceof URL);
}

function sessionOptions({
  execute = false,
  vocabulary = 'skillwright',
  catalog,
  policy,
}: OpenSkillsOptions): SessionOptions {
  const common: SessionOptions = {
    vocabulary: vocabulary === 'skillwright' ? withBriefResults(openVocabulary(vocabulary)) : vocabulary,
    // What was loaded stays in the messages that the program keeps.
    lifetime: 'session',
    ...defined({ catalog, policy }),
  };
  if (execute === false) return common;
  const { approve, onOutput: _, ...programs } = execute === true ? {} : execute;
  return { ...common, execution: { artifacts: false, opens: approve === undefined, ...programs } };
}

/**
 * Finds out at the start whether programs can run. If they cannot, it throws with words for a program that has no command line, or returns
 * false where they are `optional`.
 */
async function canStart(runtime: Runtime, session: SessionOptions, optional: boolean): Promise<boolean> {
  if (session.execution === undefined) return true;
  try {
    await (await runtime.startSession(session)).close();
    return true;
  } catch (error) {
    if (!isSkillError(error) || error.code !== 'executor/unavailable') throw error;
    if (optional) return false;
    throw new SkillError({
      code: 'executor/unavailable',
      message: withoutClauses(error.message),
      // Without a command that installs one, no executor of this machine helps.
      hint:
        'install' in error.data && error.data.install === ''
          ? error.hint
          : 'install bubblewrap, pass an executor of your own as execute.executor, accept a weaker sandbox with execute: { allowWeaker: true }, or leave execute out',
      data: { executor: 'auto', reasons: [], install: '', ...error.data },
    });
  }
}
