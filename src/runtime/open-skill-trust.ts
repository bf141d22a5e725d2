/** Opens the store of trusted skills. A listing of the user's own skills does not load it. */
import type { LoadedConfig } from '#core';
import type { ListedDigests } from '#platform/listed-digests';
import { openTrust } from '#policy';
import type { SkillTrust } from './skill-trust.ts';

export interface SkillTrustOptions {
  readonly home: string | undefined;
  readonly loaded: Pick<LoadedConfig, 'config' | 'namedRoots'>;
  /** Folders that the calling program vouches for. */
  readonly vouched: readonly string[];
  /** Called on first use. */
  readonly digests: () => Promise<Pick<ListedDigests, 'of' | 'known'>>;
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
      const trees = await digests();
      // Known digests first: asking twice about thousands of skills takes as long as checking their files.
      const first = store.isTrusted({ source, dir, digest: trees.known(dir) });
      if (first.trusted) return undefined;
      if (first.reason !== 'no-digest') return first;
      const read = await trees.of(dir);
      const verdict = read.type === 'digest' ? store.isTrusted({ source, dir, digest: read.digest }) : first;
      return verdict.trusted ? undefined : verdict;
    },
    distrustByHead({ source, dir, digest: head }) {
      const verdict = store.isTrusted({ source, dir, head });
      return verdict.trusted ? undefined : verdict;
    },
  };
}
