/** Calls of the API. Answers come from the server of this page, so they are not validated again. */
import { isSkillError, problemError } from '#core';

/** Why a call failed; `status` is 0 if there was no answer. */
export interface ApiError {
  readonly status: number;
  readonly message: string;
  readonly hint?: string;
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

export function upload(file: File): Promise<{ readonly id: string }> {
  return call(address('/uploads', { name: file.name }), {
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
    throw problemError({
      code: 'http/0',
      message: 'the server does not answer',
      hint: 'start it again: skillwright ui',
    });
  }
  const text = await response.text();
  if (response.ok) {
    const value: T = JSON.parse(text);
    return value;
  }
  const { error, hint } = parseError(text);
  const status = String(response.status);
  throw problemError({ code: `http/${status}`, message: error ?? `status ${status}`, hint: hint ?? '' });
}

function parseError(text: string): { readonly error?: string; readonly hint?: string } {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

/** What a page shows of anything that was thrown. */
export function apiError(error: unknown): ApiError {
  if (!isSkillError(error) || error.raised === undefined)
    return { status: 0, message: error instanceof Error ? error.message : String(error) };
  const { code, message, hint } = error.raised;
  return { status: Number(code.slice('http/'.length)), message, hint: hint === '' ? undefined : hint };
}
