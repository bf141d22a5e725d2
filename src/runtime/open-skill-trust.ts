/** Opens the store of trusted skills. A listing of the user's own skills does not load it. */
import type { LoadedConfig } from '#core';
import type { openTreeDigests } from '#platform';
import { openTrust } from '#policy';
import type { SkillTrust } from './skill-trust.ts';

export interface SkillTrustOptions {
  readonly home: string | undefined;
  readonly loaded: Pick<LoadedConfig, 'config' | 'namedRoots'>;
  /** Folders that the calling program vouches for. */
  readonly vouched: readonly string[];
  /** Called on first use: only trust that is bound to digests reads files. */
  readonly digests: () => Promise<ReturnType<typeof openTreeDigests>>;
}

export function openSkillTrust({ home, loaded, vouched, digests }: SkillTrustOptions): SkillTrust {
  const { namedRoots, config } = loaded;
  const store = openTrust({
    home,
    bind: config.trust?.bind ?? 'digest',
    vouched: [...namedRoots.own, ...vouched],
    projectRoots: namedRoots.project,
  });
  return {
    async distrust({ source, dir }) {
      const first = store.isTrusted({ source, dir });
      if (first.trusted) return undefined;
      if (first.reason !== 'no-digest') return first;
      const read = await (await digests()).of(dir);
      const verdict = read.type === 'digest' ? store.isTrusted({ source, dir, digest: read.digest }) : first;
      return verdict.trusted ? undefined : verdict;
    },
    distrustByHead({ source, dir, digest: head }) {
      const verdict = store.isTrusted({ source, dir, head });
      return verdict.trusted ? undefined : verdict;
    },
  };
}
