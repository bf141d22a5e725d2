import path from 'node:path';

interface CacheLocation {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `undefined` if the user has no home folder. */
  readonly home: string | undefined;
}

/** The cache folder; `undefined` if neither the environment nor the home folder gives one. */
export function cacheDirectory({ env, home }: CacheLocation): string | undefined {
  const configured = env['SKILLWRIGHT_CACHE_DIR'];
  if (configured !== undefined && path.isAbsolute(configured)) return configured;
  const shared = env['XDG_CACHE_HOME'];
  if (shared !== undefined && path.isAbsolute(shared)) return path.join(shared, 'skillwright');
  return home === undefined || !path.isAbsolute(home) ? undefined : path.join(home, '.cache', 'skillwright');
}
