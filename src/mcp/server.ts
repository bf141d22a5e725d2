/** An MCP server over recorded sessions: the tools of a vocabulary, and the Skills extension (SEP-2640). */
import { AsyncLocalStorage } from 'node:async_hooks';
import nodePath from 'node:path';
import {
  McpServer,
  inputRequired,
  inputResponse,
  type CallToolResult,
  type ElicitRequestFormParams,
  type ElicitResult,
  type InputRequiredResult,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { SkillsExtension, skillEntry } from '@modelcontextprotocol/server/ext/skills';

import { isObject, isSkillError, printable, type ApprovalRequest, type Approve } from '#core';
import { sha256 } from '#platform';
import { buildSkillTools, type Run, type RunOptions, type Runtime, type SkillTools } from '#runtime';
import { openSkillSource } from './skill-source.ts';
import { approvalLines } from '#policy';

export interface McpOptions {
  readonly runtime: Runtime;
  readonly version: string;
  /** Options of the session: vocabulary, execution, project files, sinks. */
  readonly run?: Omit<RunOptions, 'request' | 'approve'>;
  /** Asked where the client cannot ask its user (default: no person is available). */
  readonly approve?: Approve;
  /** Receives one line for each problem; stdout belongs to the protocol. */
  readonly onWarning: (message: string) => void;
}

const WATCH_AFTER_MS = 2_000;

export interface SkillServer {
  /**
   * Makes a server for one connection. Connections share one session unless they are told apart: `isOwn` gives the connection a session,
   * approvals and a record of its own, from its first call until it is closed.
   */
  readonly connect: (options?: { readonly isOwn?: boolean }) => McpServer;
  /** Scans the skills again, starts a new session with them and tells clients. */
  readonly refresh: () => Promise<void>;
  /** Refreshes whenever skills change on disk, until the signal is aborted. */
  readonly watch: (signal: AbortSignal) => void;
  /** Called after each refresh, for transports that notify clients themselves. */
  readonly onChange: (listener: () => void) => void;
  /** Ends all programs and closes the record. */
  readonly end: () => Promise<void>;
}

/** Starts the recorded session of connections that are not told apart. */
export async function openSkillServer(options: McpOptions): Promise<SkillServer> {
  const { runtime, version, onWarning } = options;
  const runs = new Set<Run>();
  const shared = openSlot(options, runs);
  let open = await shared.tools();
  const slots = new Set([shared]);
  const servers = new Set<McpServer>();
  const listeners: (() => void)[] = [];
  const extension = new SkillsExtension({
    source: openSkillSource({
      session: async () => (await shared.tools()).run.session,
      onUnrecorded: () => shared.retire(),
      buildEntry: (path, files) => skillEntry(path, files),
      onWarning,
      cacheFile: publishedFile(runtime),
    }),
    onWarning: ({ path, message }) => onWarning(`${path}: ${message}`),
  });
  const connect: SkillServer['connect'] = ({ isOwn = false } = {}) => {
    const slot = isOwn ? openSlot(options, runs) : shared;
    slots.add(slot);
    const mcp = new McpServer(
      { name: 'skillwright', version },
      {
        capabilities: { tools: { listChanged: true }, resources: { listChanged: true } },
        instructions: open.tools.instructions,
      },
    );
    // Every session offers the same tools.
    mcp.server.setRequestHandler('tools/list', () => ({ tools: listed(open.tools) }));
    mcp.server.setRequestHandler('tools/call', ({ params }, context) =>
      slot.elicitation.during(mcp, context, async () => {
        const tools = await slot.tools().catch(unrecordedReason);
        const answer =
          typeof tools === 'string' ? tools : await call(tools, params.name, params.arguments ?? {}, context);
        if (typeof answer !== 'string') return answer;
        slot.retire();
        return notRecorded(answer);
      }),
    );
    extension.attach(mcp);
    servers.add(mcp);
    mcp.server.onclose = () => {
      servers.delete(mcp);
      if (slot === shared) return;
      slots.delete(slot);
      slot.retire();
    };
    return mcp;
  };
  const swap = async (): Promise<void> => {
    // A program that a client waits for is not ended because a skill changed.
    for (const slot of slots) slot.retire();
    open = await shared.tools();
    for (const mcp of servers) {
      mcp.sendToolListChanged();
      mcp.sendResourceListChanged();
    }
    for (const listener of listeners) listener();
  };
  let swapped: Promise<void> = Promise.resolve();
  const swapNext = (): Promise<void> => (swapped = swapped.then(swap, swap));
  const warn = (error: unknown): void => onWarning(`skills could not be read again: ${toErrorMessage(error)}`);
  return {
    connect,
    async refresh() {
      await runtime.refresh();
      await swapNext();
    },
    watch(signal) {
      const start = (): void => runtime.registry.watch(() => void swapNext().catch(warn), { signal, onError: warn });
      // The watch begins with a scan, which would compete with the first requests. What changes until then, it finds.
      const timer = setTimeout(start, WATCH_AFTER_MS);
      signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    },
    onChange: (listener) => void listeners.push(listener),
    async end() {
      await swapped.catch(() => undefined);
      await Promise.all([...runs].map((run) => endRun(run, onWarning)));
    },
  };
}

function publishedFile({ cacheDir, roots }: Runtime): string | undefined {
  if (cacheDir === undefined) return undefined;
  const name = sha256(JSON.stringify(roots.map((root) => root.path))).slice(0, 32);
  return nodePath.join(cacheDir, 'mcp', `published-${name}.bin`);
}

/** A session that is replaced when skills change. */
interface Slot {
  readonly elicitation: Elicitation;
  /** The current session; starts one if needed. */
  readonly tools: () => Promise<OpenTools>;
  /** The next call starts a new session. This one ends when its calls have ended. */
  readonly retire: () => void;
}

/** `runs` has every run that has not ended. */
function openSlot(options: McpOptions, runs: Set<Run>): Slot {
  const elicitation = openElicitation(options.approve);
  let current: Promise<OpenTools> | undefined;
  const start = async (): Promise<OpenTools> => {
    const open = await startTools(options, elicitation.approve);
    runs.add(open.run);
    return open;
  };
  return {
    elicitation,
    tools: () =>
      (current ??= start().catch((error: unknown) => {
        current = undefined;
        throw error;
      })),
    retire() {
      const before = current;
      current = undefined;
      const end = async (open: OpenTools): Promise<void> => {
        await open.idle();
        await endRun(open.run, options.onWarning);
        runs.delete(open.run);
      };
      // A session that could not start has told its caller.
      before?.then(end, () => undefined).catch((error: unknown) => options.onWarning(toErrorMessage(error)));
    },
  };
}

/** A record that cannot be closed, such as one whose folder was removed, does not end the server. */
async function endRun(run: Run, onWarning: McpOptions['onWarning']): Promise<void> {
  try {
    await run.end('done');
  } catch (error) {
    if (!isSkillError(error) || error.code !== 'record/failed') throw error;
    onWarning(error.message);
  }
}

/** For a session whose record cannot be created. */
function unrecordedReason(error: unknown): string {
  if (!isSkillError(error) || error.code !== 'record/failed') throw error;
  return error.message;
}

function toErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface OpenTools {
  readonly run: Run;
  readonly tools: SkillTools;
  /** Counts a call until it has ended. */
  readonly during: <Value>(perform: () => Promise<Value>) => Promise<Value>;
  readonly idle: () => Promise<unknown>;
}

async function startTools({ runtime, run: runOptions = {} }: McpOptions, approve: Approve): Promise<OpenTools> {
  const run = await runtime.startRun({ ...runOptions, request: 'mcp', approve });
  const running = new Set<Promise<unknown>>();
  return {
    run,
    // A client starts new conversations in its session, so instructions are sent whenever they are asked for.
    tools: buildSkillTools(run.session, runtime, (action, options) =>
      run.session.perform(action.type === 'load_skill' ? { ...action, again: true } : action, options),
    ),
    during(perform) {
      const performed = perform();
      running.add(performed);
      void performed.catch(() => undefined).finally(() => running.delete(performed));
      return performed;
    },
    idle: () => Promise.allSettled(running),
  };
}

function listed({ tools }: SkillTools): Tool[] {
  return tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    // The same JSON; the protocol's type has an index signature that ours lacks.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    inputSchema: inputSchema as unknown as Tool['inputSchema'],
  }));
}

/** The reason if the action could not be recorded; then the session is of no more use. */
async function call(
  { tools, during }: OpenTools,
  name: string,
  input: unknown,
  { mcpReq }: ServerContext,
): Promise<CallToolResult | string> {
  const answer = await during(() => tools.call(name, input, { signal: mcpReq.signal }));
  const { text, value, isError, observations } = answer;
  const failed = observations.find((one) => one.type === 'failed');
  if (failed?.code === 'record/failed') return failed.message;
  return {
    content: [{ type: 'text', text }],
    ...(isObject(value) && !isError ? { structuredContent: { ...value } } : {}),
    ...(isError ? { isError } : {}),
    // A call of an unknown tool is not an action, so it has no observation.
    _meta: isError ? { [CODE_KEY]: failed?.code ?? 'input/invalid' } : undefined,
  };
}

/** Where a result of a failed call has the code of the failure. */
const CODE_KEY = 'skillwright/code';

function notRecorded(reason: string): CallToolResult {
  const text = `The record of this session cannot be written: ${printable(reason)}. An effect of this call may have happened. The next call starts a new session with a new record, once the reason is resolved: then load skills again and repeat the call.`;
  return { content: [{ type: 'text', text }], isError: true, _meta: { [CODE_KEY]: 'record/failed' } };
}

const FORM: ElicitRequestFormParams['requestedSchema'] = {
  type: 'object',
  properties: { approve: { type: 'boolean', title: 'Approve', description: 'Approve exactly this action, once.' } },
  required: ['approve'],
};

const COLUMNS = 80;

interface Call {
  readonly canAsk: boolean;
  readonly responses: ServerContext['mcpReq']['inputResponses'];
  /** The question that the client must answer before the call is repeated. */
  asked: ApprovalRequest | undefined;
}

interface Elicitation {
  readonly approve: Approve;
  /** Performs a call. If it needs an approval that the client can get, the result asks for it, and the client repeats the call. */
  readonly during: (
    mcp: McpServer,
    context: ServerContext,
    perform: () => Promise<CallToolResult>,
  ) => Promise<CallToolResult | InputRequiredResult>;
}

/** Approvals through the client: its user is asked by elicitation, if the client can. */
function openElicitation(otherwise: Approve = () => 'nobody'): Elicitation {
  const calls = new AsyncLocalStorage<Call>();
  // An answer counts once, and only for a question that was asked.
  const open = new Set<string>();
  return {
    async approve(request, options) {
      const call = calls.getStore();
      if (call?.canAsk !== true) return otherwise(request, options);
      const view = open.has(request.id) ? inputResponse(call.responses, toApprovalKey(request)) : undefined;
      if (view?.kind !== 'elicit') {
        call.asked ??= request;
        open.add(request.id);
        return 'pending';
      }
      open.delete(request.id);
      const isYes = view.action === 'accept' && view.content?.['approve'] === true;
      return { verdict: isYes ? 'yes' : 'no', scope: 'once', by: 'callback' };
    },
    async during(mcp, { mcpReq }, perform) {
      const isModern = mcpReq.envelope !== undefined;
      let call: Call = { canAsk: canFillForms(mcp), responses: mcpReq.inputResponses, asked: undefined };
      for (let round = 1; ; round += 1) {
        const result = await calls.run(call, perform);
        const { asked } = call;
        if (asked === undefined) return result;
        const form = {
          message: approvalLines(asked, { width: COLUMNS }).join('\n'),
          requestedSchema: FORM,
        };
        const key = toApprovalKey(asked);
        if (isModern) return inputRequired({ inputRequests: { [key]: inputRequired.elicit(form) } });
        // Other clients are asked here and not by the SDK, whose failure names no other way to answer.
        const answer = round > MAX_ROUNDS ? undefined : await elicit(mcpReq, form);
        const responses = answer === undefined ? undefined : { [key]: answer };
        call = { canAsk: answer !== undefined, responses, asked: undefined };
      }
    },
  };
}

const MAX_ROUNDS = 8;
const ANSWER_MS = 10 * 60_000;

/** A client that declares no mode has forms. */
function canFillForms(mcp: McpServer): boolean {
  const modes = mcp.server.getClientCapabilities()?.elicitation;
  return modes !== undefined && (modes.form !== undefined || modes.url === undefined);
}

/** Undefined if the client fails to ask. Throws if it cancels the call. */
async function elicit(
  { elicitInput, signal }: ServerContext['mcpReq'],
  form: ElicitRequestFormParams,
): Promise<ElicitResult | undefined> {
  try {
    return await elicitInput(form, { timeout: ANSWER_MS, resetTimeoutOnProgress: true, signal });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Error)) throw error;
    return undefined;
  }
}

function toApprovalKey({ id }: ApprovalRequest): string {
  return `approve-${id.replace(/^sha256:/, '')}`;
}
