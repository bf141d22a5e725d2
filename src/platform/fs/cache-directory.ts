import path from 'node:path';

export interface CachePlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absent where there is no home folder. */
  readonly home: string | undefined;
}

/** The folder of what can be rebuilt at any time; absent where there is no place for it. */
export function cacheDirectory({ env, home }: CachePlace): string | undefined {
  const named = env['SKILLWRIGHT_CACHE_DIR'];
  if (named !== undefined && path.isAbsolute(named)) return named;
  const shared = env['XDG_CACHE_HOME'];
  if (shared !== undefined && path.isAbsolute(shared)) return path.join(shared, 'skillwright');
  return home === undefined || !path.isAbsolute(home) ? undefined : path.join(home, '.cache', 'skillwright');
}
