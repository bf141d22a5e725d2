/** Calls of the API. Answers come from the server of this page, so they are not validated again. */
import { isSkillError, problemError } from '#core';
import type { Answers, Posts } from '#server/api';
import type { PageData } from './report/data.ts';

/** Why a call failed; `status` is 0 if there was no answer. */
export interface ApiError {
  readonly status: number;
  readonly message: string;
  readonly hint?: string;
}

/** What `GET` answers, by path. Reports of evaluations are above the server, so their type is only known here. */
export interface Gets extends Answers {
  readonly '/evaluations/{id}': PageData;
}

export type Values = Readonly<Record<string, string | number | undefined>>;

/** The address of a route below /api/v1. Values fill `{name}` in the path; the others are the query. */
export function address(path: string, values: Values = {}): string {
  const names = new Set<string>();
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    names.add(name);
    return encodeURIComponent(values[name] ?? '');
  });
  const words = Object.entries(values).flatMap(([name, value]) =>
    names.has(name) || value === undefined || value === '' ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return `/api/v1${filled}${words.length === 0 ? '' : `?${words.join('&')}`}`;
}

export function get<Path extends keyof Gets>(path: Path, values?: Values, signal?: AbortSignal): Promise<Gets[Path]> {
  return call(address(path, values), { signal });
}

export function post<Path extends keyof Posts>(
  path: Path,
  values: Values,
  body: Posts[Path]['body'],
): Promise<Posts[Path]['answer']> {
  return call(address(path, values), {
    method: 'POST',
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
}

export function remove(path: string, values: Values): Promise<unknown> {
  return call(address(path, values), { method: 'DELETE' });
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
