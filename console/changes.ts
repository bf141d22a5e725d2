/** One stream per page tells what changed on the server. Hidden pages close it, because browsers allow few connections per host. */
import { createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';

import { address } from './client.ts';
import { noticeState } from './notice.ts';

interface Changes {
  readonly approvals: number;
  readonly questions: string;
  readonly answered: number;
  readonly runs: number;
  readonly newest: string;
  readonly active: number;
  readonly mode?: string;
  readonly skills: string;
}

export interface ServerNews {
  readonly isConnected: boolean;
  readonly changes: Changes | undefined;
  /** Counts connections, so that a page reads everything again after a restart of the server. */
  readonly connection: number;
}

const NOTHING: ServerNews = { isConnected: true, changes: undefined, connection: 0 };
export const NewsContext = createContext<ServerNews>(NOTHING);

export function useServerNews(): ServerNews {
  const [news, setNews] = useState<ServerNews>(NOTHING);
  useEffect(() => {
    let source: EventSource | undefined;
    let opened = 0;
    let timer: number | undefined;
    const open = (): void => {
      source?.close();
      clearTimeout(timer);
      // Notifications need the stream, because they are for a person who looks elsewhere.
      if (document.hidden && noticeState() !== 'on') return;
      source = new EventSource(address('/changes'));
      source.addEventListener('open', () => {
        // What a page reads first is not read again for the first connection.
        setNews((now) => ({ ...now, isConnected: true, connection: opened }));
        opened += 1;
      });
      source.addEventListener('change', ({ data }: MessageEvent<string>) => {
        const changes: Changes = JSON.parse(data);
        setNews((now) => ({ ...now, isConnected: true, changes }));
      });
      source.addEventListener('error', () => {
        setNews((now) => ({ ...now, isConnected: false }));
        // A server that refuses ends the source for good; it is tried again.
        if (source?.readyState === EventSource.CLOSED) timer = setTimeout(open, 1_000);
      });
    };
    open();
    document.addEventListener('visibilitychange', open);
    return () => {
      document.removeEventListener('visibilitychange', open);
      clearTimeout(timer);
      source?.close();
    };
  }, []);
  return news;
}

/** The version of what a page reads: another value after a reconnection, and once a part of the news differs from the first one. */
export function useVersion(...parts: readonly (keyof Changes)[]): string {
  const { changes, connection } = useContext(NewsContext);
  const value = changes === undefined ? undefined : parts.map((part) => String(changes[part])).join(' ');
  const first = useRef(value);
  first.current ??= value;
  return `${value === undefined || value === first.current ? '' : value} ${String(connection)}`;
}
