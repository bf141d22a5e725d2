import type { RunEvent, OfType } from '#core';

type Span = OfType<RunEvent, 'span'>['span'];

/** `call` is the number of the action that the step belongs to, if any. */
export type OnSpan = (span: Span, call?: number) => void;

interface Step<Result> {
  readonly name: OfType<RunEvent, 'span'>['span']['name'];
  readonly attributes?: Span['attributes'];
  /** Attributes that are known only afterwards. */
  readonly after?: (result: Result) => Span['attributes'];
}

/** Runs a step and reports it. Errors are thrown on unchanged. */
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
