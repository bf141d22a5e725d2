/** What an attempt needs besides contents by digest. */
export interface StoredAttempt {
  readonly packed: unknown;
  readonly timeoutMs: number;
  /** The skills, pinned: a set for each source. */
  readonly roots: readonly { readonly source: string; readonly skillSet: string }[];
  /** Covers all of them. */
  readonly skillsDigest: string;
  readonly model?: { readonly id: string; readonly way: string };
  readonly judge?: string;
}
