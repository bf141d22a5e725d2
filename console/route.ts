/** The page is chosen by the part of the address behind `#`, so that the back button works. */
import { useEffect, useState } from 'preact/hooks';

export interface PageRoute {
  /** Decoded segments: `#/runs/ID` is `runs` and the id. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

function parseRoute(hash: string): PageRoute {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const segments = path.split('/').filter((segment) => segment !== '');
  return { segments: segments.map(decoded), query: new URLSearchParams(query) };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return segment;
    throw error;
  }
}

export function useRoute(): PageRoute {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const change = (): void => setHash(location.hash);
    addEventListener('hashchange', change);
    return () => removeEventListener('hashchange', change);
  }, []);
  return parseRoute(hash);
}

export function link(...segments: readonly string[]): string {
  return `#/${segments.map(encodeURIComponent).join('/')}`;
}

export function go(target: string): void {
  location.hash = target;
}

/** Changes values of the address without a new entry in the history; empty values are left out. */
export function replaceQuery(page: string, query: URLSearchParams, values: Readonly<Record<string, string>>): void {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(values))
    if (value === '') next.delete(name);
    else next.set(name, value);
  const text = next.toString();
  history.replaceState(null, '', text === '' ? page : `${page}?${text}`);
  dispatchEvent(new HashChangeEvent('hashchange'));
}
