/** Environment variables for settings: `SKILLWRIGHT_` and the path of the key. */
export const SETTING_PREFIX = 'SKILLWRIGHT_';

/** Variables with the same prefix that are not settings. */
const OTHER_NAMES: ReadonlySet<string> = new Set([
  'SKILLWRIGHT_CACHE_DIR',
  'SKILLWRIGHT_DATABASE_URL',
  'SKILLWRIGHT_RUN',
  'SKILLWRIGHT_REPORT',
  'SKILLWRIGHT_TEST_INSTALL',
  'SKILLWRIGHT_HTTP_TOKEN',
  'SKILLWRIGHT_HTTP_TOKEN_HOST',
]);

/** Names of variables that look like settings, known or not. A separate small file, because every command loads it. */
export function settingNames(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.keys(env).filter(
    (name) => name.startsWith(SETTING_PREFIX) && !OTHER_NAMES.has(name) && env[name] !== undefined && env[name] !== '',
  );
}
