/** Why skill content was shown. */
export const SHOWN_REASONS = [
  'catalog',
  'search',
  'load',
  'document',
  'resource',
  'list',
  'invocation',
  'compaction',
] as const;
export type ShownReason = (typeof SHOWN_REASONS)[number];

/** Skill content that was shown to the model. */
export interface ShownContent {
  /** Id of the skill; empty for the catalog. */
  readonly skill: string;
  /** Relative to the folder of the skill; empty if no single file was shown. */
  readonly path: string;
  /** Digest of the file, or of the text if it is not a file. */
  readonly digest: string;
  readonly characters: number;
  readonly tokens: number;
  readonly reason: ShownReason;
}
