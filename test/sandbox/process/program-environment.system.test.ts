import { describe, expect, test } from 'vitest';
import { verifies } from '../../conformance/verifies.ts';
import { programEnvironment } from '../../../src/sandbox/process/program-environment.ts';

const request = {
  root: '/workspace',
  skill: { name: 'pdf', folder: 'pdf' },
  runFolder: 'runs/1',
  home: 'home/pdf-1a2b3c4d',
};

function refusal(declared: Readonly<Record<string, string>>): string | undefined {
  const made = programEnvironment({ ...request, declared });
  return made.type === 'refused' ? made.failure.message : undefined;
}

verifies('EXEC-2', 'a program sees where it is, and nothing else', () => {
  expect(programEnvironment(request)).toEqual({
    type: 'environment',
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: '/workspace/home/pdf-1a2b3c4d',
      TMPDIR: '/workspace/home/pdf-1a2b3c4d/tmp',
      PYTHONNOUSERSITE: '1',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_ATTR_NOSYSTEM: '1',
      LANG: 'C.UTF-8',
      USER: 'skill',
      LOGNAME: 'skill',
      SHLVL: '1',
      WORKSPACE_DIR: '/workspace',
      SKILLS_DIR: '/workspace/skills',
      WORK_DIR: '/workspace/work',
      OUTPUT_DIR: '/workspace/out',
      RUN_DIR: '/workspace/runs/1',
      SKILL_NAME: 'pdf',
      SKILL_DIR: '/workspace/skills/pdf',
    },
  });
});

test('a command without a skill sees no skill variables; interpreter folders come first', () => {
  const made = programEnvironment({
    root: '/w',
    runFolder: 'runs/1',
    home: 'home/none',
    programFolders: ['/opt/node/bin'],
  });
  if (made.type === 'refused') throw new Error(made.failure.message);
  expect(Object.keys(made.env)).not.toContain('SKILL_NAME');
  expect(made.env['PATH']).toBe('/opt/node/bin:/usr/local/bin:/usr/bin:/bin');
});

test('declared variables are passed unchanged', () => {
  const declared = {
    API_TOKEN: "it's $(id)\nnew",
    LANG: 'de_DE.UTF-8',
    NODE_ENV: 'test',
    PYTHONUNBUFFERED: '1',
    GIT_AUTHOR_NAME: 'A',
    // The runtime's own way to answer an editor.
    EDITOR: 'sh /workspace/runs/1/editor.sh',
    PAGER: 'cat',
    env: 'lower case',
    __proto: '1',
    EMPTY: '',
  };
  const made = programEnvironment({ ...request, declared });
  expect(made).toMatchObject({ type: 'environment', env: declared });
});

describe('a variable is rejected if', () => {
  const steering = `LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS
    PYTHONSTARTUP PYTHONHOME PYTHONPATH PYTHONWARNINGS PYTHONINSPECT PYTHONBREAKPOINT PERL5OPT PERL5LIB PERL5DB PERLLIB RUBYOPT RUBYLIB
    BASH_ENV ENV IFS PS4 SHELLOPTS BASHOPTS PROMPT_COMMAND CDPATH GLOBIGNORE GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF GIT_CONFIG
    GIT_CONFIG_GLOBAL GIT_CONFIG_COUNT GIT_EXEC_PATH GIT_PAGER GIT_EDITOR GIT_ASKPASS GIT_TEMPLATE_DIR GIT_PROXY_COMMAND
    OPENSSL_CONF OPENSSL_MODULES GCONV_PATH GLIBC_TUNABLES LOCPATH HOSTALIASES JAVA_TOOL_OPTIONS _JAVA_OPTIONS CLASSPATH TAR_OPTIONS
    MAKEFLAGS GOFLAGS LESSOPEN SSH_ASKPASS SSL_CERT_FILE PHPRC npm_config_script_shell NPM_CONFIG_NODE_OPTIONS
    http_proxy HTTPS_PROXY ALL_PROXY no_proxy PIP_INDEX_URL UV_INDEX_URL DOCKER_HOST`
    .trim()
    .split(/\s+/);
  test.each(steering)('it can change which code runs: %s', (name) => {
    expect(refusal({ [name]: 'x' })).toBe(
      `invalid environment variables: "${name}" can change which code a program runs or which certificates it trusts`,
    );
  });

  const own =
    `PATH HOME TMPDIR TMP TEMP USER SHELL WORKSPACE_DIR SKILLS_DIR WORK_DIR OUTPUT_DIR RUN_DIR SKILL_NAME SKILL_DIR
    SKILLWRIGHT_RUN SKILLWRIGHT_ANYTHING`.split(/\s+/);
  test.each(own)('the runtime sets it: %s', (name) => {
    expect(refusal({ [name]: 'x' })).toBe(`invalid environment variables: "${name}" is set by the runtime`);
  });

  const badNames = ['', '1A', 'A-B', 'A B', 'A=B', 'A\nB', 'Ä', 'BASH_FUNC_ls%%', 'BASH_FUNC_ls()', 'A\0'];
  test.each(badNames)('it is not a name: %j', (name) => {
    expect(refusal({ [name]: 'x' })).toMatch(/ is not a variable name$/);
  });

  test('its value contains a NUL or is too long', () => {
    expect(refusal({ A: 'a\0b' })).toBe('invalid environment variables: "A" contains a NUL character');
    expect(refusal({ A: 'x'.repeat(32 * 1024) })).toBeUndefined();
    expect(refusal({ A: 'ä'.repeat(16 * 1024 + 1) })).toMatch(/"A" is longer than 32768 bytes/);
  });

  test('all variables together are too large', () => {
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`V${String(at)}`, 'x'.repeat(20_000)]));
    expect(refusal(many)).toMatch(/all variables together are larger than 262144 bytes/);
  });
});

test('up to ten rejected variables are named', () => {
  expect(refusal({ PATH: 'x', FINE: 'x', LD_PRELOAD: 'x' })).toBe(
    'invalid environment variables: "PATH" is set by the runtime, ' +
      '"LD_PRELOAD" can change which code a program runs or which certificates it trusts',
  );
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`LD_${String(at)}`, '']));
  expect(refusal(many)).toMatch(/ and 20 more$/);
});
