/** What every request of a run carries before a skill is loaded, by part. */
import { estimateTokens, toolTokens, type Offer } from '#core';
import type { Session } from '#runtime';
import { actionTable } from './action-protocol.ts';
import { agentToolList } from './agent-tools.ts';
import { rulesText } from './system-prompt.ts';

interface RunFeatures {
  readonly execution: boolean;
  readonly host: boolean;
}

interface RequestParts {
  readonly rules: number;
  readonly guidance: number;
  readonly catalog: number;
  readonly tools: number;
}

interface RequestCost extends RequestParts {
  readonly total: number;
  /** The totals of runs with other features. */
  readonly variants: readonly (RunFeatures & { readonly tokens: number })[];
}

const VARIANTS: readonly RunFeatures[] = [
  { execution: true, host: true },
  { execution: true, host: false },
  { execution: false, host: true },
  { execution: false, host: false },
];

/** Counts a run with the protocol of the vocabulary, programs and project files over this session, whatever the session itself may do. */
export function requestCost(session: Session): RequestCost {
  const total = ({ rules, guidance, catalog, tools }: RequestParts): number => rules + guidance + catalog + tools;
  const parts = requestParts(session, { execution: true, host: true });
  const variants = VARIANTS.map((features) => ({ ...features, tokens: total(requestParts(session, features)) }));
  return { ...parts, total: total(parts), variants };
}

function requestParts({ vocabulary, offer, index, catalog }: Session, features: RunFeatures): RequestParts {
  const { execution = { hasInteraction: true, hasPackages: true }, host: _, ...rest } = offer;
  const counted: Offer = {
    ...rest,
    ...(features.execution ? { execution } : {}),
    ...(features.host ? { host: { hasNetwork: true } } : {}),
  };
  const offered = vocabulary.tools.filter((tool) => tool.isOffered(counted)).map(({ name }) => name);
  const { protocol = 'tools' } = vocabulary.profile ?? {};
  const tools = agentToolList({ vocabulary, offer: counted, index }, protocol);
  return {
    rules: estimateTokens(rulesText(protocol)),
    guidance: estimateTokens(vocabulary.guidance(offered, counted)),
    catalog: catalog.tokens,
    // Where the model is not shown a schema, the system text lists the actions.
    tools: protocol === 'tools' ? toolTokens(tools) : estimateTokens(actionTable(tools)),
  };
}
