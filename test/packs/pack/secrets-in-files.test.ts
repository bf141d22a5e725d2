import { generateKeyPairSync } from 'node:crypto';

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { secretFileKind, secretsInText } from '../../../src/packs/pack/secrets-in-files.ts';
import { ENCRYPTED, PLAIN } from './minisign-answers.ts';

/** Put together here, so that this file holds none. */
const BODY = 'q7Zk2Vw9Rb4Tn6Yc8Mf1Lp3Hs5Jd0XgA';
const UPPER = 'Q7ZK2VW3RB4TN6YC';
const FOUND: readonly (readonly [kind: string, secret: string])[] = [
  ['an AWS access key', `AKIA${UPPER}`],
  ['a GitHub token', `ghp_${BODY}Q2w3E`],
  ['a GitHub token', `github_pat_${BODY}_${BODY}`],
  ['a GitLab token', `glpat-${BODY.slice(0, 20)}`],
  ['an API key of a model provider', `sk-${BODY}Q2w3E4`],
  ['an API key of a model provider', `sk-ant-api03-${BODY}-${BODY}`],
  ['an API key of a model provider', `sk-proj-${BODY}${BODY}`],
  ['a Google API key', `AIza${BODY}Q2w`],
  ['a Slack token', `xoxb-738291645-${BODY}`],
  ['a Slack webhook', `https://hooks.slack.com/services/T0AB1CD2E/B0AB1CD2E/${BODY.slice(0, 24)}`],
  ['a Stripe key', `sk_live_${BODY}`],
  ['an npm token', `npm_${BODY}Q2w3`],
  ['a PyPI token', `pypi-AgE${BODY}${BODY}`],
  ['a SendGrid key', `SG.${BODY.slice(0, 22)}.${BODY}${BODY.slice(0, 11)}`],
  ['an age secret key', `AGE-SECRET-KEY-1${(UPPER + UPPER + UPPER + UPPER).slice(0, 58)}`],
  ['a signed token', `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${BODY}`],
  ['a minisign secret key', PLAIN.secretText],
  ['a minisign secret key', ENCRYPTED.secretText],
];

describe('secrets', () => {
  test.each(FOUND)('%s is found and not told', (kind, secret) => {
    const found = secretsInText(`# Notes\n\nkey = "${secret}"\nend`);
    expect(found.map((each) => each.kind)).toEqual([kind]);
    expect(found[0]?.line).toBe(secret.startsWith('untrusted') ? 4 : 3);
    expect(JSON.stringify(found)).not.toContain(BODY.slice(0, 8));
  });

  test('private keys, with line ends as they are or as programs write them', () => {
    const pem = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    const legacy = pem
      .replace('-----\n', '-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n')
      .replaceAll('PRIVATE', 'RSA PRIVATE');
    for (const text of [pem, JSON.stringify({ key: pem }), `x = "${pem.replaceAll('\n', '"\n + "')}"`, legacy])
      expect(secretsInText(text).map(({ kind }) => kind)).toEqual(['a private key']);
  });

  test('every secret has a line and column', () => {
    const text = `ghp_${BODY}Q2w3E\nx\n  AKIA${UPPER} AKIA${UPPER}\n`;
    expect(secretsInText(text)).toEqual([
      { kind: 'a GitHub token', line: 1, column: 1 },
      { kind: 'an AWS access key', line: 3, column: 3 },
      { kind: 'an AWS access key', line: 3, column: 24 },
    ]);
  });
});

describe('what is none', () => {
  test.each([
    'AKIAIOSFODNN7EXAMPLE',
    'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    'ghp_YourTokenGoesHereYourTokenGoesHere12',
    'sk-your-key-here-and-nothing-else-but-that-1',
    '.sk-toggleable__content.sk-estimator-doc-link-fitted-hover',
    'risk-based-assessment-of-all-the-things-in-2024',
    '-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----',
    'grep -r "-----BEGIN RSA PRIVATE KEY-----" .',
    '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----',
    PLAIN.publicText,
    PLAIN.hashed,
    'eyJhbGciOiJIUzI1NiJ9',
    'npm_config_registry_of_the_company_mirror',
    'export OPENAI_API_KEY=sk-...',
  ])('%#', (text) => {
    expect(secretsInText(text)).toEqual([]);
  });
});

test('matching takes bounded time', () => {
  const long = ['eyJ', 'sk-', '-----BEGIN ', 'ghp_', 'a: '].map((part) => part.repeat(20_000));
  for (const text of [...long, `-----BEGIN PRIVATE KEY-----${'a: b\n'.repeat(20_000)}`, `eyJ${'a'.repeat(1_000_000)}`])
    expect(secretsInText(text)).toEqual([]);
  fc.assert(
    fc.property(fc.string({ maxLength: 500 }), (text) => {
      expect(secretsInText(text)).toEqual([]);
    }),
  );
});

test('the number of findings is limited', () => {
  expect(secretsInText(`AKIA${UPPER}\n`.repeat(1000))).toHaveLength(100);
});

test('secret files by name', () => {
  const names = [
    '.env',
    'a/.env.local',
    '.env.example',
    'x.env',
    'id_rsa',
    'keys/id_ed25519',
    'id_rsa.pub',
    '.netrc',
    'a.p12',
    '.aws/credentials',
    'credentials',
  ];
  expect(names.filter((name) => secretFileKind(name) !== undefined)).toEqual([
    '.env',
    'a/.env.local',
    'id_rsa',
    'keys/id_ed25519',
    '.netrc',
    'a.p12',
    '.aws/credentials',
  ]);
});
