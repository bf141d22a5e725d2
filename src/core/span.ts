/** Steps that take time, as tracing names them (EXEC-11). Whoever wants them gives a function; without one nothing is measured. */
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
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** Names, counts and states; never contents. */
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** The step threw; the message of the error is not part of it. */
  readonly isFailed: boolean;
}

/** `call`: the number of the action that the step belongs to, where it belongs to one and its run is counted. */
export type OnSpan = (span: Span, call?: number) => void;

interface Step<Result> {
  readonly name: SpanName;
  readonly attributes?: Span['attributes'];
  /** What is known only afterwards. */
  readonly after?: (result: Result) => Span['attributes'];
}

/** Does a step and tells of it. What is told of never changes what is done: an error flies on as it is. */
export async function spanned<Result>(
  onSpan: OnSpan | undefined,
  { name, attributes = {}, after }: Step<Result>,
  act: () => Result | Promise<Result>,
): Promise<Result> {
  if (onSpan === undefined) return await act();
  const startedAt = Date.now();
  const start = performance.now();
  const tell = (more: Span['attributes'], isFailed: boolean): void =>
    onSpan({
      name,
      startedAt,
      durationMs: performance.now() - start,
      attributes: { ...attributes, ...more },
      isFailed,
    });
  let result: Result;
  try {
    result = await act();
  } catch (error) {
    tell({}, true);
    throw error;
  }
  tell(after?.(result) ?? {}, false);
  return result;
}
