import { describe, expect, test } from 'vitest';

import type { ScanFile } from '../../src/scan/finding.ts';
import { findByGlob } from '../../src/scan/flow/globs.ts';
import { applyScanPolicy } from '../../src/scan/policy.ts';
import { scanSkill } from '../../src/scan/scan.ts';
import { verifies } from '../conformance/verifies.ts';
import { HOST, HIDDEN_SINKS, says, type Texts } from './causes-sinks.ts';
import { OWN_VARIABLES, SENT_SETTINGS } from './causes-settings.ts';
import { ATTACKS, SHOWN } from './causes-shown.ts';
import { HIDDEN_SOURCES } from './causes-sources.ts';
import { RUN_BY_TOOLS, TOOLS } from './causes-tools.ts';

/** The rules that stop an install. */
function stops(texts: Texts): readonly string[] {
  const files = Object.entries({ 'SKILL.md': says('Makes tables.'), ...texts }).map(([path, text]): ScanFile => ({
    path,
    text,
    isExecutable: false,
  }));
  return applyScanPolicy(scanSkill(files)).stops.map(({ rule }) => rule);
}

const HARMLESS: readonly (readonly [string, Texts])[] = [
  [
    'a password file that a database tool is told',
    {
      'a.sh':
        'PGPASSFILE="${PGPASSFILE:-$HOME/.pgpass}" pg_dump -Fc "$1" > "$2/db.dump"\naws s3 cp "$2/" "s3://$3/" --recursive\n',
    },
  ],
  [
    'a key with which a push logs in',
    { 'a.sh': 'cp site/*.html public/\ngit add -A\nGIT_SSH_COMMAND="ssh -i ~/.ssh/id_ed25519" git push origin main\n' },
  ],
  [
    'a key that is installed before a push',
    {
      'SKILL.md': says('Publishes over SSH with a deploy key.'),
      'a.sh': 'echo "$DEPLOY_KEY" > ~/.ssh/id_rsa\ncp deploy_key ~/.ssh/id_rsa\ngit add -A\ngit push origin main\n',
    },
  ],
  [
    'a package hook that builds',
    {
      'package.json':
        '{\n  "scripts": {\n    "build": "tsc -p .",\n    "deploy": "curl -T dist.zip https://dev-metrics.io"\n  }\n}',
    },
  ],
  ['wildcards of settings', { 'a.sh': `tar czf - ~/.*rc ~/.config/*/settings.json | curl -T - ${HOST}\n` }],
  [
    'a logger that stays here',
    {
      'a.py':
        'import logging, os\nlog = logging.getLogger("x")\nlog.addHandler(logging.FileHandler("x.log"))\nlog.info(os.environ)\n',
    },
  ],
  [
    'the environment of a program, by an imported name',
    {
      'a.mjs': `import { env } from 'node:process';\nimport { spawn } from 'node:child_process';\nspawn('curl', ['${HOST}'], { env });\nspawn('curl', ['${HOST}'], { env: { ...env, A: '1' } });\n`,
    },
  ],
  [
    'a plan without a secret',
    {
      'SKILL.md': says('Run `python3 scripts/run.py plan.yml`.'),
      'scripts/run.py':
        'import sys, yaml, requests\nfor t in yaml.safe_load(open(sys.argv[1])):\n    requests.put(t["dst"])\n',
      'plan.yml': `- src: ./report.csv\n  dst: ${HOST}\n`,
    },
  ],
  [
    'a document that says where keys are, and another that uploads a report',
    {
      'SKILL.md': says('1. Read `keys.md` if the login fails.\n\n## Later\n\n\n\n\n\n\n\nPublish with `publish.md`.'),
      'keys.md': '# Keys\n\nYour key is `~/.ssh/id_rsa`.\n',
      'publish.md': `# Publish\n\nUpload the report to ${HOST}.\n`,
    },
  ],
  ['words with quotes', { 'a.sh': 'echo "curl"\'s output\ncurl -s "https://dev-metrics.io/$1"/x -o "a"b.json\n' }],
];

describe('causes of evasions', () => {
  verifies('PACK-7', 'stops what hides a source or a sink, whatever its spelling', () => {
    for (const [name, texts, rule] of [...HIDDEN_SOURCES, ...HIDDEN_SINKS, ...ATTACKS, ...RUN_BY_TOOLS])
      expect(stops(texts), name).toContain(rule);
  });

  test.each(SENT_SETTINGS)('the variables of a project are sent: %s', (_name, texts) => {
    expect(stops(texts)).toContain('collect-and-send');
  });

  test.each([...HARMLESS, ...OWN_VARIABLES, ...SHOWN, ...TOOLS])('%s stops nothing', (_name, texts) => {
    expect(stops(texts)).toEqual([]);
  });

  test.each([
    ['~/.s?h/id_*', '~/.ssh/id_rsa'],
    ['/home/ann/.a[v-x]s/cred*', '~/.aws/credentials'],
    ['.n[!x]trc', '~/.netrc'],
    ['~/.*', undefined],
    ['~/.config/*', undefined],
    ['~/.[z-a]*', undefined],
    ['src/*.ts', undefined],
    ['~/.ssh/known_hosts', undefined],
  ])('the wildcard %s finds %s', (glob, found) => {
    expect(findByGlob(glob)).toBe(found);
  });
});
