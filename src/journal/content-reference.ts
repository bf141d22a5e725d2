/** Folders of a run for content that is too large for an event line. */
export const CONTENT_KINDS = ['observations', 'inputs', 'artifacts'] as const;

export type ContentKind = (typeof CONTENT_KINDS)[number];

/** Replaces content that is stored in a separate file, named by its hash. */
export interface ContentReference {
  /** `observations/<sha256>`, relative to the run folder. */
  readonly $ref: string;
  readonly bytes: number;
  /** The first characters, for readers of the event log. */
  readonly start: string;
  /** The file contains JSON: for text that is not valid UTF-8, and for whole events that are large. */
  readonly json?: true;
}
