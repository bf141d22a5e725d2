import { actionFailed, nearest, printable, type Action } from '#core';
import { buildTools, whyNotOffered, type SkillTool, type ToolAnswer } from '#tools';
import {
  toAiSdk,
  toAnthropic,
  toOpenAi,
  toOpenAiResponses,
  type AiSdkTools,
  type AnthropicTool,
  type OpenAiResponsesTool,
  type OpenAiTool,
} from './tool-shapes.ts';
import type { ExecutionOptions } from './execution/execution.ts';
import { createRuntime, type Runtime, type RuntimeOptions } from './runtime.ts';
import type { RootServices } from './find-roots.ts';
import type { Session } from './session.ts';
import type { SessionOptions } from './start-session.ts';

export interface SkillToolsOptions extends Omit<SessionOptions, 'execution'> {
  /** Enables programs; `auto` with the defaults. Without it no tool that runs programs is offered. */
  readonly execution?: ExecutionOptions | 'auto';
  /** The runtime or its options (default: the working directory). */
  readonly runtime?: Runtime | RuntimeOptions;
}

/** Skills for any agent: the tools of one vocabulary in every API format, and the text for the system prompt. */
export interface SkillTools {
  /** `{ name, description, inputSchema, execute }` */
  readonly tools: readonly SkillTool[];
  /** For the chat completions API. */
  readonly openai: readonly OpenAiTool[];
  /** For the responses API. */
  readonly openaiResponses: readonly OpenAiResponsesTool[];
  readonly anthropic: readonly AnthropicTool[];
  readonly aiSdk: AiSdkTools;
  /** Guidance and catalog; constant for the session. */
  readonly instructions: string;
  readonly session: Session;
  readonly runtime: Runtime;
  /** Answers a tool call by name, including unknown names; `input` is an object or JSON text. */
  readonly call: (name: string, input: unknown, options?: { readonly signal?: AbortSignal }) => Promise<ToolAnswer>;
}

/** Opens a session and returns its tools. */
export async function openSkillTools(options: SkillToolsOptions = {}, services?: RootServices): Promise<SkillTools> {
  const { runtime: given, execution, ...others } = options;
  const sessionOptions =
    execution === undefined ? others : { ...others, execution: execution === 'auto' ? {} : execution };
  const runtime = isRuntime(given) ? given : await createRuntime(given, services);
  return buildSkillTools(await runtime.startSession(sessionOptions), runtime);
}

/** The tools of an open session. `prepare` may change an action before it is performed. */
export function buildSkillTools(
  session: Session,
  runtime: Runtime,
  prepare: (action: Action) => Action = (action) => action,
): SkillTools {
  const { tools, find } = buildTools({
    vocabulary: session.vocabulary,
    offer: session.offer,
    perform: (action, performOptions) => session.perform(prepare(action), performOptions),
    fail: (failed) => session.fail(failed),
  });
  const names = tools.map(({ name }) => name);
  return {
    tools,
    openai: toOpenAi(tools),
    openaiResponses: toOpenAiResponses(tools),
    anthropic: toAnthropic(tools),
    aiSdk: toAiSdk(tools),
    instructions: session.instructions,
    session,
    runtime,
    async call(name, input, callOptions) {
      const tool = find(name);
      if (tool !== undefined) return tool.call(input, callOptions);
      callOptions?.signal?.throwIfAborted();
      // Models invent tool names; the model gets an error and can continue.
      const message =
        whyNotOffered(name, session.vocabulary, session.offer) ??
        `there is no tool called ${JSON.stringify(printable(name))}`;
      const cause = {
        code: 'input/invalid',
        message,
        hint: `the tools are ${names.join(', ')}`,
        nearest: nearest(name, names),
      } as const;
      // The vocabulary needs an action type to word a failure.
      const failed = actionFailed('load_skill', cause);
      const value = session.vocabulary.toFailure(failed, { action: undefined, done: [], offer: session.offer });
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return { text, value, isError: true, isTerminal: session.state.endedBy !== undefined, observations: [] };
    },
  };
}

function isRuntime(value: Runtime | RuntimeOptions | undefined): value is Runtime {
  return value !== undefined && 'startSession' in value;
}
