/** Finds requests of users that can become cases for a skill, redacted. */
import { openRequestRedactor } from './redact-request.ts';
import { readUsage, type Usage, type UsageOptions } from './usage.ts';

interface CaseRequest {
  /** `positive` loaded the skill, or clearly needed it; `near-miss` loaded another one; `negative` has nothing to do with it. */
  readonly kind: 'positive' | 'near-miss' | 'negative';
  readonly input: string;
}

/** Longer requests are mostly pasted text, which may reveal anything. */
const MAX_LENGTH = 2000;
/** The newest of each kind; an evaluation takes fewer. */
const MAX_REQUESTS = 100;

/** `names` are those by which agents call the skill. */
export async function findCaseRequests(
  options: UsageOptions & { readonly names: ReadonlySet<string> },
): Promise<{ readonly requests: readonly CaseRequest[]; readonly agents: Usage['agents'] }> {
  const { names, surroundings } = options;
  const found = new Map<string, CaseRequest & { readonly at: number }>();
  const redact = openRequestRedactor(surroundings);
  const usage = await readUsage({
    ...options,
    onRequest({ text, loads, at }, { needed, isUnrelated }) {
      const written = text.trim();
      if (written === '' || written.length > MAX_LENGTH) return;
      const isLoaded = loads.some(({ skill }) => names.has(skill));
      const isNeeded = needed !== undefined && names.has(needed);
      const isFarAway = [...names].every((name) => isUnrelated(name));
      const kind =
        isLoaded && isFarAway ? 'negative' : isLoaded || isNeeded ? 'positive' : isFarAway ? 'negative' : 'near-miss';
      // A request that loaded nothing and shares words with the skill may need it or not.
      if (kind === 'near-miss' && loads.length === 0) return;
      const input = redact(written);
      found.set(input.toLowerCase(), { kind, input, at });
    },
  });
  const newest = [...found.values()].toSorted((a, b) => b.at - a.at);
  const kinds = ['positive', 'near-miss', 'negative'] as const;
  const requests = kinds.flatMap((kind) => newest.filter((one) => one.kind === kind).slice(0, MAX_REQUESTS));
  return { requests: requests.map(({ kind, input }) => ({ kind, input })), agents: usage.agents };
}
