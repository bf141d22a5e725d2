/** Steps that are reported for tracing (EXEC-11). Nothing is measured without a callback. */
export const SPAN_NAMES = [
  'workspace.create',
  'workspace.stage.skill',
  'workspace.stage.inputs',
  'workspace.run',
  'workspace.collect',
  'workspace.inline',
  'workspace.cleanup',
] as const;
export type SpanName = (typeof SPAN_NAMES)[number];

export interface Span {
  readonly name: SpanName;
  /** Unix time in milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** Names, counts and states; never contents. */
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** The step threw an error; its message is not included. */
  readonly isFailed: boolean;
}
