import type { SessionState } from '#core';

/**
 * Returns the state of a session under the keys of trpc-agent-go, for programs that read them. With the name of an agent it returns
 * the keys of that agent, otherwise the older ones.
 */
export function trpcState(
  { loaded }: SessionState,
  options: { readonly agent?: string } = {},
): Readonly<Record<string, string>> {
  const agent = options.agent?.trim() ?? '';
  const scope = agent.includes('/') ? pathEscape(agent) : agent;
  const key = (kind: 'loaded' | 'docs', skill: string): string =>
    agent === '' ? `temp:skill:${kind}:${skill}` : `temp:skill:${kind}_by_agent:${scope}/${skill}`;
  const order = agent === '' ? 'temp:skill:loaded_order:' : `temp:skill:loaded_order_by_agent:${scope}`;
  const entries = loaded.flatMap(({ skill: { name }, documents }) => [
    [key('loaded', name), '1'] as const,
    ...(documents.length === 0
      ? []
      : [[key('docs', name), documents === '*' ? '*' : JSON.stringify(documents)] as const]),
  ]);
  if (entries.length === 0) return {};
  return Object.fromEntries([...entries, [order, JSON.stringify(loaded.map(({ skill }) => skill.name))]]);
}

/**
 * The part of the state that a call changed, as trpc-agent-go puts it into the event of a tool response. A selection that was cleared is
 * `[]`; keys of a skill that is no longer loaded are empty.
 */
export function trpcStateDelta(
  before: SessionState,
  after: SessionState,
  options: { readonly agent?: string } = {},
): Readonly<Record<string, string>> {
  const [old, now] = [trpcState(before, options), trpcState(after, options)];
  const changed = Object.entries(now).filter(([key, value]) => old[key] !== value);
  const gone = Object.keys(old).filter((key) => !Object.hasOwn(now, key));
  const isLoaded = (key: string): boolean => Object.hasOwn(now, key.replace(/^(temp:skill:)docs/, '$1loaded'));
  return Object.fromEntries([...changed, ...gone.map((key) => [key, isLoaded(key) ? '[]' : ''] as const)]);
}

/** Escapes like Go's `url.PathEscape`, which differs from `encodeURIComponent` in a few characters. */
function pathEscape(segment: string): string {
  return encodeURIComponent(segment)
    .replace(/%(?:24|26|2B|3A|3D|40)/g, decodeURIComponent)
    .replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
