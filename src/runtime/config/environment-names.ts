/** Environment variables for settings: `SKILLWRIGHT_` and the path of the key. */
export const SETTING_PREFIX = 'SKILLWRIGHT_';

/**
 * Variables with the same prefix that are not settings. An unknown variable counts as a broken configuration, so every variable that a
 * page names, or that programs get from skillwright and pass on to it, is here; `test/docs/variables.test.ts` checks that.
 */
const OTHER_NAMES: ReadonlySet<string> = new Set([
  // Read by commands.
  'SKILLWRIGHT_CACHE_DIR',
  'SKILLWRIGHT_DATABASE_URL',
  'SKILLWRIGHT_HTTP_TOKEN',
  'SKILLWRIGHT_HTTP_TOKEN_HOST',
  'SKILLWRIGHT_MCP_TOKEN',
  // Set for programs of skills and for agents under evaluation.
  'SKILLWRIGHT_RUN',
  'SKILLWRIGHT_IDEMPOTENCY_KEY',
  'SKILLWRIGHT_PROMPT',
  'SKILLWRIGHT_SKILLS',
  'SKILLWRIGHT_MODEL',
  // Read by the tests of this project, which start commands.
  'SKILLWRIGHT_TEST_INSTALL',
]);

/** Names of variables that look like settings, known or not. A separate small file, because every command loads it. */
export function settingNames(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.keys(env).filter(
    (name) => name.startsWith(SETTING_PREFIX) && !OTHER_NAMES.has(name) && env[name] !== undefined && env[name] !== '',
  );
}
