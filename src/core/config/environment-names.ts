/** Settings of the configuration as variables: `SKILLWRIGHT_` and the path of the key. */
export const SETTING_PREFIX = 'SKILLWRIGHT_';

/** Names that start alike and are no settings: the cache's folder, the mark on programs that we started, the report of our own tests, the key to private downloads. */
const OTHER_NAMES: ReadonlySet<string> = new Set([
  'SKILLWRIGHT_CACHE_DIR',
  'SKILLWRIGHT_RUN',
  'SKILLWRIGHT_REPORT',
  'SKILLWRIGHT_HTTP_TOKEN',
  'SKILLWRIGHT_HTTP_TOKEN_HOST',
]);

/** Variables that want to be settings, those that are none among them. A small file: every listing asks this. */
export function settingNames(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.keys(env).filter(
    (name) => name.startsWith(SETTING_PREFIX) && !OTHER_NAMES.has(name) && env[name] !== undefined && env[name] !== '',
  );
}
