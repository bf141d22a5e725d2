/** Approvals through the client: its user is asked by elicitation, if the client can. */
import { AsyncLocalStorage } from 'node:async_hooks';

import { inputRequired, inputResponse } from '@modelcontextprotocol/server';
import type {
  CallToolResult,
  ElicitRequestFormParams,
  InputRequiredResult,
  McpServer,
  ServerContext,
} from '@modelcontextprotocol/server';

import type { ApprovalRequest, Approve } from '../core/approval.ts';
import { sha256 } from '../platform/hash.ts';
import { approvalLines } from '../policy/approval-text.ts';

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

export interface Elicitation {
  readonly approve: Approve;
  /** Performs a call. If it needs an approval that the client can get, the result asks for it, and the client repeats the call. */
  readonly during: (
    mcp: McpServer,
    context: ServerContext,
    perform: () => Promise<CallToolResult>,
  ) => Promise<CallToolResult | InputRequiredResult>;
}

export function openElicitation(otherwise: Approve = async () => 'nobody'): Elicitation {
  const calls = new AsyncLocalStorage<Call>();
  // An answer counts once, and only for a question that was asked.
  const open = new Set<string>();
  return {
    async approve(request, options) {
      const call = calls.getStore();
      if (call?.canAsk !== true) return otherwise(request, options);
      const view = open.has(request.id) ? inputResponse(call.responses, keyOf(request)) : undefined;
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
      const canAsk = mcp.server.getClientCapabilities()?.elicitation !== undefined;
      const call: Call = { canAsk, responses: mcpReq.inputResponses, asked: undefined };
      const result = await calls.run(call, perform);
      const { asked } = call;
      if (asked === undefined) return result;
      const message = approvalLines(asked, { width: COLUMNS, hash: sha256 }).join('\n');
      return inputRequired({
        inputRequests: { [keyOf(asked)]: inputRequired.elicit({ message, requestedSchema: FORM }) },
      });
    },
  };
}

function keyOf({ id }: ApprovalRequest): string {
  return `approve-${id.replace(/^sha256:/, '')}`;
}
