/** What every request of a run carries before a skill is loaded, by part. */
import { estimateTokens, type Offer } from '#core';
import type { Session } from '#runtime';
import { agentToolList } from './agent-tools.ts';
import { rulesText } from './system-prompt.ts';

export interface RunFeatures {
  /** Programs can be run. */
  readonly execution: boolean;
  /** Files of the project can be used. */
  readonly host: boolean;
}

export interface RequestCost {
  /** The rules of the agent itself. */
  readonly rules: number;
  readonly guidance: number;
  readonly catalog: number;
  /** Names, descriptions and schemas of the tools. */
  readonly tools: number;
  readonly total: number;
}

/** Counts a run with native tool calls over this session, whatever the session itself may do. */
export function requestCost({ vocabulary, offer, index, catalog }: Session, features: RunFeatures): RequestCost {
  const { execution = { hasInteraction: true, hasPackages: true }, host: _, ...rest } = offer;
  const counted: Offer = {
    ...rest,
    ...(features.execution ? { execution } : {}),
    ...(features.host ? { host: { hasNetwork: true } } : {}),
  };
  const offered = vocabulary.tools.filter((tool) => tool.isOffered(counted)).map(({ name }) => name);
  const tools = agentToolList({ vocabulary, offer: counted, index }).map(({ name, description, inputSchema }) => ({
    name,
    description,
    input_schema: inputSchema,
  }));
  const parts = {
    rules: estimateTokens(rulesText('tools')),
    guidance: estimateTokens(vocabulary.guidance(offered, counted)),
    catalog: catalog.tokens,
    tools: estimateTokens(JSON.stringify(tools)),
  };
  return { ...parts, total: parts.rules + parts.guidance + parts.catalog + parts.tools };
}
