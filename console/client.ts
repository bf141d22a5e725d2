/** Calls of the API. Answers come from the server of this page, so they are not validated again. */

export class ApiError extends Error {
  readonly status: number;
  readonly hint: string | undefined;

  constructor(status: number, message: string, hint: string | undefined) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

export type Query = Readonly<Record<string, string | number | undefined>>;

/** The address of a route below /api/v1. Segments of the path are encoded by the caller. */
export function address(path: string, query: Query = {}): string {
  const words = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return `/api/v1${path}${words.length === 0 ? '' : `?${words.join('&')}`}`;
}

export function get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return call<T>(address(path, query), signal === undefined ? {} : { signal });
}

export function post<T>(path: string, body?: unknown, query?: Query): Promise<T> {
  return call<T>(address(path, query), {
    method: 'POST',
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
}

export function remove<T>(path: string): Promise<T> {
  return call<T>(address(path), { method: 'DELETE' });
}

export function upload<T>(file: File): Promise<T> {
  return call<T>(address('/uploads', { name: file.name }), {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body: file,
  });
}

async function call<T>(target: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(target, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, 'the server does not answer', 'start it again: skillwright ui');
  }
  const text = await response.text();
  if (response.ok) {
    const value: T = JSON.parse(text);
    return value;
  }
  throw toApiError(response.status, text);
}

function toApiError(status: number, text: string): ApiError {
  try {
    const { error, hint }: { readonly error?: string; readonly hint?: string } = JSON.parse(text);
    return new ApiError(status, error ?? `status ${String(status)}`, hint);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return new ApiError(status, `status ${String(status)}`, undefined);
  }
}

/** Any failure in the form that pages show. */
export function apiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(0, error instanceof Error ? error.message : String(error), undefined);
}
