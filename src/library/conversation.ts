import { actionFailed, failure, type Action, type ActionProblem, type ApprovalRequest, type RunEvent } from '#core';
import { approvalLines } from '#policy';
import { buildSkillTools, type Runtime, type Session, type SessionOptions, type SkillTools } from '#runtime';
import { forEmbedder, withoutClauses, type HintTexts } from './embedder-hints.ts';
import { buildShapes, type Shapes } from './shapes.ts';

/** What a person is asked: the request, who asks, and the text to show. */
export interface ApprovalQuestion extends ApprovalRequest {
  /** The id of the conversation. */
  readonly conversation: string;
  /** The question in plain text, with what would be done. Names and contents in it are untrusted. */
  readonly text: string;
}

/**
 * Answers a question. `true` approves this call; `'conversation'` also approves the same thing for the rest of the conversation. Everything
 * else, and an error, is a no.
 */
export type AnswerQuestion = (
  question: ApprovalQuestion,
  options: { readonly signal?: AbortSignal },
) => boolean | 'conversation' | Promise<boolean | 'conversation'>;

/** Output of a program while it runs. */
export interface ProgramOutput {
  readonly conversation: string;
  /** The number of the call in the conversation. Programs of several calls can run at the same time. */
  readonly call: number;
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
}

export interface ConversationOptions {
  /** The same id returns the same open conversation (default: a random one). */
  readonly id?: string;
  /** Asked in this conversation instead of `execute.approve`. */
  readonly approve?: AnswerQuestion;
  /** Gets a span for each call (default: a tracer of the OpenTelemetry that the program has set up, if it has). */
  readonly tracer?: NonNullable<SessionOptions['tracing']>['tracer'];
  /** Receives every event before it takes effect, for a record or a trace. If it throws, the step is not done. */
  readonly onEvent?: (event: RunEvent) => void;
}

/** One conversation of one user: what is loaded, what was approved, and its workspace. */
export interface Conversation extends Shapes {
  readonly id: string;
  /** Guidance and catalog, for the system prompt; constant. */
  readonly system: string;
  /** The tools as plain JSON Schema and a function. */
  readonly tools: SkillTools['tools'];
  /** Names of the skills whose instructions the model has. */
  readonly loaded: readonly string[];
  /** Answers a tool call by name, including unknown names; `input` is an object or JSON text. Failures are answers, too. */
  readonly call: SkillTools['call'];
  /** All content of skills that the model was shown, with its tokens. */
  readonly ledger: Session['ledger'];
  /** Ends every program and removes the workspace. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ConversationParts {
  readonly id: string;
  readonly runtime: Runtime;
  readonly session: SessionOptions;
  readonly hints: HintTexts;
  readonly options: ConversationOptions;
  readonly onOutput: ((output: ProgramOutput) => void) | undefined;
  readonly approve: AnswerQuestion | undefined;
  /** Reads what an action needs from a source, before it is performed. */
  readonly prepare: (action: Action, signal?: AbortSignal) => Promise<ActionProblem | undefined>;
  readonly onClose: () => void;
}

export async function startConversation(parts: ConversationParts): Promise<Conversation> {
  const { id, runtime, hints, onOutput, prepare, onClose } = parts;
  const approve = parts.options.approve ?? parts.approve;
  const { execution } = parts.session;
  const decode = openDecoders();
  const session = await runtime.startSession({
    ...parts.session,
    record: parts.options.onEvent,
    tracing: { tracer: parts.options.tracer, conversation: id },
    approve: approve && ((request, options) => askPerson(approve, { request, id, options })),
    execution: execution && {
      ...execution,
      onOutput:
        onOutput &&
        ((stream, chunk, call = 0) =>
          onOutput({ conversation: id, call, stream, text: decode(`${String(call)} ${stream}`, chunk) })),
    },
  });
  let isClosed = false;
  const perform: Session['perform'] = async (action, options) => {
    if (isClosed) return actionFailed(action.type, failure('run/ended', 'this conversation is closed'));
    const problem = await prepare(action, options?.signal);
    if (problem !== undefined) return session.fail(actionFailed(action.type, problem));
    return forEmbedder(await session.perform(action, options), hints);
  };
  const skills = buildSkillTools(session, runtime, perform, withoutClauses);
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    onClose();
    await session.close();
  };
  return {
    id,
    system: skills.instructions,
    tools: skills.tools,
    get loaded() {
      return session.state.loaded.map(({ skill }) => skill.name);
    },
    call: skills.call,
    get ledger() {
      return session.ledger;
    },
    ...buildShapes(skills),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A character that is split between two chunks arrives with the second one. */
function openDecoders(): (key: string, chunk: Uint8Array) => string {
  const decoders = new Map<string, InstanceType<typeof TextDecoder>>();
  return (key, chunk) => {
    const decoder = decoders.get(key) ?? new TextDecoder();
    decoders.set(key, decoder);
    return decoder.decode(chunk, { stream: true });
  };
}

const WIDTH = 100;

async function askPerson(
  approve: AnswerQuestion,
  asked: {
    readonly request: ApprovalRequest;
    readonly id: string;
    readonly options: { readonly signal?: AbortSignal };
  },
): Promise<boolean | { readonly verdict: 'yes'; readonly scope: 'run' }> {
  const { request, id, options } = asked;
  const text = approvalLines(request, { width: WIDTH }).join('\n');
  const answer: unknown = await approve({ ...request, conversation: id, text }, options);
  return answer === 'conversation' ? { verdict: 'yes', scope: 'run' } : answer === true;
}
