/** Data of the server in components. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

import { address, apiError, get, type ApiError, type Gets, type Values } from './client.ts';

interface Fetched<T> {
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  readonly reload: () => void;
}

/** Reads a route, and again when the path, its values or `version` changes. Earlier data stays until new data arrives. */
export function useGet<Path extends keyof Gets>(
  path: Path | undefined,
  values: Values = {},
  version: unknown = 0,
): Fetched<Gets[Path]> {
  const [state, setState] = useState<{ key: string; data?: Gets[Path]; error?: ApiError }>({ key: '' });
  const [count, setCount] = useState(0);
  const key = path === undefined ? '' : address(path, values);
  useEffect(() => {
    if (path === undefined) return undefined;
    const gone = new AbortController();
    get(path, values, gone.signal).then(
      (data) => setState({ key, data }),
      (error: unknown) => {
        if (!gone.signal.aborted) setState({ key, error: apiError(error) });
      },
    );
    return () => gone.abort();
  }, [key, count, version]);
  const reload = useCallback(() => setCount((now) => now + 1), []);
  const isSamePath = state.key.split('?')[0] === key.split('?')[0];
  return { data: isSamePath ? state.data : undefined, error: state.error, reload };
}

/** A failure that the page shows, and how it is reported; without a cause it is cleared. */
export function useFailure(): readonly [ApiError | undefined, (cause?: unknown) => void] {
  const [failure, setFailure] = useState<ApiError>();
  return [failure, (cause) => setFailure(cause === undefined ? undefined : apiError(cause))];
}

export interface Chunks<T> {
  readonly total: number;
  readonly item: (index: number) => T | undefined;
  readonly want: (first: number, last: number) => void;
  readonly error: ApiError | undefined;
  readonly isLoaded: boolean;
}

const CHUNK = 100;
/** Chunks that are kept; the memory of a list does not grow with its length. */
const MAX_CHUNKS = 30;

/** A long list of the server, read in pieces. `key` names the list; another key starts again. `known`: its length so far, if it grows. */
export function useChunks<T>(
  key: string,
  load: (
    offset: number,
    limit: number,
    signal: AbortSignal,
  ) => Promise<{ readonly items: readonly T[]; readonly total: number }>,
  known = 0,
): Chunks<T> {
  const store = useRef({ chunks: new Map<number, readonly T[]>(), loading: new Set<number>() });
  const [state, setState] = useState<{ total: number; error?: ApiError; isLoaded: boolean }>({
    total: 0,
    isLoaded: false,
  });
  const stopping = useRef<AbortController>(undefined);
  const count = useRef(known);
  count.current = known;
  const read = useCallback(
    (chunk: number) => {
      const { current } = store;
      // The last chunk of a list that grows is read again.
      const expected = Math.max(1, Math.min(CHUNK, count.current - chunk * CHUNK));
      if ((current.chunks.get(chunk)?.length ?? 0) >= expected || current.loading.has(chunk)) return;
      current.loading.add(chunk);
      const { signal } = stopping.current ?? new AbortController();
      load(chunk * CHUNK, CHUNK, signal).then(
        (found) => {
          current.loading.delete(chunk);
          if (signal.aborted) return;
          current.chunks.set(chunk, found.items);
          for (const oldest of current.chunks.keys()) {
            if (current.chunks.size <= MAX_CHUNKS) break;
            if (oldest !== chunk) current.chunks.delete(oldest);
          }
          setState({ total: found.total, isLoaded: true });
        },
        (problem: unknown) => {
          current.loading.delete(chunk);
          if (!signal.aborted) setState(({ total }) => ({ total, error: apiError(problem), isLoaded: true }));
        },
      );
    },
    [key],
  );
  useEffect(() => {
    const controller = new AbortController();
    stopping.current = controller;
    store.current = { chunks: new Map(), loading: new Set() };
    read(0);
    return () => controller.abort();
  }, [key]);
  const want = useCallback(
    (first: number, last: number) => {
      for (let chunk = Math.floor(first / CHUNK); chunk <= Math.floor(last / CHUNK); chunk += 1) read(chunk);
    },
    [read],
  );
  const item = (index: number): T | undefined => store.current.chunks.get(Math.floor(index / CHUNK))?.[index % CHUNK];
  return { ...state, error: state.error, total: Math.max(state.total, known), item, want };
}

/** A value of this browser, such as the theme. A report in a sandboxed frame has no storage and keeps nothing. */
export function useStored(name: string, initial: string): readonly [string, (value: string) => void] {
  const key = `skillwright.${name}`;
  const [value, setValue] = useState(() => storage()?.getItem(key) ?? initial);
  return [
    value,
    (next) => {
      storage()?.setItem(key, next);
      setValue(next);
    },
  ];
}

export function useMedia(query: string): boolean {
  const [isTrue, setTrue] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const change = (): void => setTrue(list.matches);
    list.addEventListener('change', change);
    return () => list.removeEventListener('change', change);
  }, [query]);
  return isTrue;
}

function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch (error) {
    if (error instanceof DOMException) return undefined;
    throw error;
  }
}
