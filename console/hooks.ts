/** Data of the server in components. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

import { address, apiError, get, type ApiError, type Query } from './client.ts';

export interface Fetched<T> {
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/** Reads a route, and again when the path, the query or `version` changes. Earlier data stays until new data arrives. */
export function useGet<T>(path: string | undefined, query: Query = {}, version: unknown = 0): Fetched<T> {
  const [state, setState] = useState<{ readonly key: string; readonly data?: T; readonly error?: ApiError }>({
    key: '',
  });
  const [count, setCount] = useState(0);
  const [isLoading, setLoading] = useState(path !== undefined);
  const key = path === undefined ? '' : address(path, query);
  useEffect(() => {
    if (path === undefined) return undefined;
    const gone = new AbortController();
    setLoading(true);
    get<T>(path, query, gone.signal).then(
      (data) => {
        setState({ key, data });
        setLoading(false);
      },
      (error: unknown) => {
        if (gone.signal.aborted) return;
        setState({ key, error: apiError(error) });
        setLoading(false);
      },
    );
    return () => gone.abort();
  }, [key, count, version]);
  const reload = useCallback(() => setCount((now) => now + 1), []);
  const isSamePath = state.key.split('?')[0] === key.split('?')[0];
  return { data: isSamePath ? state.data : undefined, error: state.error, isLoading, reload };
}

export interface Chunks<T> {
  readonly total: number;
  readonly item: (index: number) => T | undefined;
  /** Loads what a range of rows needs. */
  readonly want: (first: number, last: number) => void;
  readonly error: ApiError | undefined;
  readonly isLoaded: boolean;
}

const CHUNK = 100;
/** Chunks that are kept; the memory of a list does not grow with its length. */
const MAX_CHUNKS = 30;

export interface ChunkOf<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** A long list of the server, read in pieces. `key` names the list; another key starts again. `known`: its length so far, if it grows. */
export function useChunks<T>(
  key: string,
  load: (offset: number, limit: number, signal: AbortSignal) => Promise<ChunkOf<T>>,
  known = 0,
): Chunks<T> {
  const store = useRef({ key: '', chunks: new Map<number, readonly T[]>(), loading: new Set<number>() });
  const [total, setTotal] = useState(0);
  const [loaded, setLoaded] = useState('');
  const [error, setError] = useState<ApiError>();
  const [, redraw] = useState(0);
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
          setTotal(found.total);
          setLoaded(key);
          setError(undefined);
          redraw((now) => now + 1);
        },
        (problem: unknown) => {
          current.loading.delete(chunk);
          if (signal.aborted) return;
          setError(apiError(problem));
          setLoaded(key);
        },
      );
    },
    [key],
  );
  useEffect(() => {
    const controller = new AbortController();
    stopping.current = controller;
    store.current = { key, chunks: new Map(), loading: new Set() };
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
  return { total: Math.max(total, known), item, want, error, isLoaded: loaded !== '' };
}

/** A value of this browser, such as the theme. */
export function useStored(name: string, initial: string): readonly [string, (value: string) => void] {
  const [value, setValue] = useState(() => storedValue(name) ?? initial);
  return [
    value,
    (next) => {
      storeValue(name, next);
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

/** Values of this browser. A report in a sandboxed frame has no storage and keeps nothing. */

function storedValue(name: string): string | undefined {
  return storage()?.getItem(`skillwright.${name}`) ?? undefined;
}

function storeValue(name: string, value: string): void {
  storage()?.setItem(`skillwright.${name}`, value);
}

function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch (error) {
    if (error instanceof DOMException) return undefined;
    throw error;
  }
}
