/** MCP servers as a session sees them. `mcp/` implements this; sessions are below it in the import table. */
import type { CallMcpTool } from './action.ts';
import type { ActionProblem } from './failure-codes.ts';
import type { ToolCalled } from './observation.ts';
import type { SkillEntry } from './skill.ts';

/** Server names contain no `__`, so two servers cannot have a tool with the same name, and are names of folders. */
export function isServerName(name: string): boolean {
  return /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,30}[A-Za-z0-9])?$/.test(name) && !name.includes('__');
}

/** A tool that a server offers. */
export interface ServerTool {
  /** `mcp__server__tool`: unique, and never a name of ours. */
  readonly name: string;
  /** Cleaned, but written by the server. */
  readonly description: string;
  /** JSON Schema of an object, without references. */
  readonly inputSchema: ForeignSchema;
}

export interface ForeignSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

/** The source of a value that a server gets: a variable, a file, or a program that prints it. */
interface ValueSource {
  readonly env?: string;
  readonly file?: string;
  readonly command?: readonly string[];
}

/** What servers need from a session. */
export interface ServerServices {
  /** Fetches secrets; from then on they are removed from everything that is shown or recorded. */
  readonly secrets: (
    owner: string,
    sources: Readonly<Record<string, ValueSource>>,
    signal?: AbortSignal,
  ) => Promise<{ readonly values: Readonly<Record<string, string>> } | { readonly failure: ActionProblem }>;
}

export interface ToolServers {
  /** Returns the tools of all servers. Servers whose tools are not known yet are connected; one that fails costs its own tools only. */
  open(
    services: ServerServices,
  ): Promise<{ readonly tools: readonly ServerTool[]; readonly problems: readonly string[] }>;
  /** Calls a tool that `open` returned; connects its server first if needed. */
  call(
    action: CallMcpTool,
    options: ServerServices & { readonly signal?: AbortSignal },
  ): Promise<ToolCalled | ActionProblem>;
  /**
   * A skill of a server in the folder of its files, and its tree digest. `wanted` files are read from the server if they are not there, all
   * without `wanted`; each must be what the server listed when the user trusted the skill.
   */
  openSkill(
    skill: SkillEntry,
    options: ServerServices & { readonly wanted?: readonly string[] | undefined; readonly signal?: AbortSignal },
  ): Promise<{ readonly skill: SkillEntry; readonly digest: string } | ActionProblem>;
  /** The skill that a server has at a URI, `mcp:SERVER/URI`, whether it lists it or not. The next index has it. */
  findSkill(
    reference: string,
    services: ServerServices,
  ): Promise<{ readonly name: string; readonly source: string } | ActionProblem>;
  /** Ends all connections and the programs of local servers. Idempotent. */
  close(): Promise<void>;
}
