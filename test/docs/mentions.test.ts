import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { SCAN_RULES } from '../../src/scan/rules.ts';
import { PACK_PROBLEMS } from '../../src/packs/problems.ts';
import { checkConfig } from '../../src/core/config/config-check.ts';
import { CONFIG_SCHEMA } from '../../src/core/config/config.ts';
import { SETTINGS } from '../../src/core/config/config-settings.ts';
import { DIAGNOSTIC_RULES } from '../../src/core/diagnostic-codes.ts';
import { FAILURES } from '../../src/core/failure-codes.ts';
import { PROJECT, filesBelow } from '../files-below.ts';
import { CHAIN_CODES, ERROR_CODES, RUN_EVENTS, SESSION_EVENTS } from './code-tables.ts';
import { codeOf, commandsOf, flagsIn, shown } from './mentions.ts';

const read = (file: string): string => readFileSync(path.join(PROJECT, file), 'utf8');

const PAGES = [
  'README.md',
  'README.zh-CN.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'AGENTS.md',
  ...filesBelow('docs', /\.md$/),
];
/** Made of the titles of tests, which quote wrong input, and of other systems' documents. */
const QUOTES_OTHERS = new Set(['docs/conformance.md']);
const CODE = PAGES.filter((page) => !QUOTES_OTHERS.has(page)).flatMap((page) => codeOf(page, read(page)));

/** Commands with their flags, from the page that another test holds equal to the code. */
const COMMANDS = ((): ReadonlyMap<string, ReadonlySet<string>> => {
  const [, ...sections] = read('docs/cli.md').split(/^## /m);
  const flags = (section: string): readonly string[] =>
    [...section.matchAll(/^\| `(.+?)` \|/gm)].flatMap(([, text = '']) => flagsIn(text.split(/,? /)));
  const everywhere = flags(sections.find((section) => section.startsWith('Flags of every command')) ?? '');
  return new Map(
    sections.flatMap((section) => {
      const name = /^([a-z]+)\n/.exec(section)?.[1];
      if (name === undefined) return [];
      const aliases = [...(/ Also: (.*)\.$/m.exec(section)?.[1] ?? '').matchAll(/`([a-z]+)`/g)].map(
        ([, alias = '']) => alias,
      );
      const known = new Set([...everywhere, ...flags(section)]);
      return [name, ...aliases].map((each) => [each, known] as const);
    }),
  );
})();

/** Flags of other programs that pages mention, with the program. */
const FLAGS_OF_OTHERS: Readonly<Record<string, string>> = {
  '--all': 'skillwright help --all',
  '--no-sandbox': 'Chromium',
  '--user': 'systemd-run',
  '--scope': 'systemd-run',
  '--ignore-scripts': 'npm',
  '--only': 'npm run bench',
  '--data': 'npm run bench',
  '--sources': 'npm run bench',
  '--skill': 'npx skills',
  '--security-opt': 'docker run',
};

describe('what the pages mention exists', () => {
  test('commands and their flags', () => {
    const commands = commandsOf(CODE, (name) => COMMANDS.has(name));
    expect(commands.length).toBeGreaterThan(200);
    const unknown = commands.flatMap((command) => {
      const flags = COMMANDS.get(command.name);
      if (flags === undefined)
        return command.name === 'help' ? [] : [`${shown(command)}\n    unknown command: ${command.name}`];
      return flagsIn(command.words)
        .filter((flag) => !flags.has(flag))
        .map((flag) => `${shown(command)}\n    unknown flag of ${command.name}: ${flag}`);
    });
    expect(unknown).toEqual([]);
  });

  test('flags without a command', () => {
    const known = new Set([...COMMANDS.values()].flatMap((flags) => [...flags]));
    const alone = CODE.filter(({ text, isInline }) => isInline && text.startsWith('--'));
    const unknown = alone.flatMap((mention) =>
      flagsIn(mention.text.split(/[\s,|]+/))
        .filter((flag) => !known.has(flag) && !Object.hasOwn(FLAGS_OF_OTHERS, flag))
        .map((flag) => `${shown(mention)}\n    no command has the flag ${flag}`),
    );
    expect(unknown).toEqual([]);
  });

  /** Members of objects of the library that look like settings. */
  const MEMBERS = new Set([
    'session.ledger',
    'session.state',
    'policy.opens',
    'model.call',
    'model.played',
    'model.requests',
    'session.close',
  ]);

  test('settings', () => {
    const tops = new Set(Object.keys(CONFIG_SCHEMA.properties));
    const isSetting = (key: string): boolean =>
      SETTINGS.some(
        (setting) =>
          setting.key === key ||
          setting.key.startsWith(`${key.replace(/\.\*$/, '')}.`) ||
          (setting.isMap && key.startsWith(`${setting.key}.`)),
      );
    const unknown = CODE.flatMap((mention) => {
      const keys = [...mention.text.matchAll(/--set ["']?([a-z_]+(?:\.[\w-]+)*)=/g)].map(([, key = '']) => key);
      const alone = /^([a-z_]+\.(?!jsonl?$|sarif$|(?:[a-z_]+\.)*ts$)[a-z_.]+\*?)(?::.*)?$/.exec(mention.text)?.[1];
      if (mention.isInline && alone !== undefined && tops.has(alone.split('.')[0] ?? '') && !MEMBERS.has(alone))
        keys.push(alone);
      return keys.filter((key) => !isSetting(key)).map((key) => `${shown(mention)}\n    unknown setting: ${key}`);
    });
    expect(unknown).toEqual([]);
  });

  test('configuration files', () => {
    const tops = new Set(Object.keys(CONFIG_SCHEMA.properties));
    const wrong = PAGES.flatMap((page) =>
      [...read(page).matchAll(/^```json.*\n([\s\S]*?)^```$/gm)].flatMap(([, text = '']) => {
        let value: unknown;
        try {
          value = JSON.parse(text);
        } catch {
          return [];
        }
        if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
        const keys = Object.keys(value);
        if (keys.length === 0 || !keys.some((key) => tops.has(key)) || keys.includes('schema')) return [];
        const problems = checkConfig(value);
        return problems.length === 0 ? [] : [{ page, text, problems }];
      }),
    );
    expect(wrong).toEqual([]);
  });

  test('variables', () => {
    const source = filesBelow('src', /\.ts$/)
      .map((file) => read(file))
      .join('\n');
    const ofSettings = new Set(SETTINGS.map(({ key }) => `SKILLWRIGHT_${key.toUpperCase().replaceAll('.', '_')}`));
    const unknown = PAGES.flatMap((page) =>
      read(page)
        .split('\n')
        .flatMap((line, at) =>
          [...line.matchAll(/SKILLWRIGHT_[A-Z_]*[A-Z]/g)]
            .filter(
              ([name]) => !ofSettings.has(name) && !source.includes(name) && !name.startsWith('SKILLWRIGHT_TEST_'),
            )
            .map(([name]) => `${page}:${String(at + 1)}: unknown variable: ${name}`),
        ),
    );
    expect(unknown).toEqual([]);
  });

  test('events', () => {
    const known = new Set([...Object.keys(RUN_EVENTS), ...Object.keys(SESSION_EVENTS)]);
    /** Events of the HTTP API, which are not recorded. */
    const others = new Set(['change', 'delta', 'output']);
    const unknown = PAGES.flatMap((page) =>
      read(page)
        .split('\n')
        .flatMap((line, at) =>
          [...line.matchAll(/\b(?:event|events|event of type|events of type) `([a-z-]+)`|`([a-z-]+)` events?\b/g)]
            .map(([, after, before]) => after ?? before ?? '')
            .filter((name) => !known.has(name) && !others.has(name))
            .map((name) => `${page}:${String(at + 1)}: unknown event: ${name}`),
        ),
    );
    expect(unknown).toEqual([]);
  });

  const CODES: ReadonlySet<string> = new Set(
    [DIAGNOSTIC_RULES, FAILURES, ERROR_CODES, CHAIN_CODES, PACK_PROBLEMS].flatMap((codes) => Object.keys(codes)),
  );

  test('error codes', () => {
    const areas = new Set([...CODES].map((code) => code.split('/')[0]));
    const media = new Set(['text/event-stream', 'skill/path', 'source/name', 'group/name']);
    const unknown = CODE.filter(
      ({ text, isInline }) =>
        isInline &&
        /^[a-z-]+\/[a-z0-9-]+$/.test(text) &&
        areas.has(text.split('/')[0]) &&
        !CODES.has(text) &&
        !media.has(text),
    ).map((mention) => `${shown(mention)}\n    unknown code`);
    expect(unknown).toEqual([]);
  });

  test('everything that exists is in a reference page', () => {
    const missing = (page: string, names: Iterable<string>): readonly string[] =>
      [...names].filter((name) => !read(page).includes(`\`${name}\``)).map((name) => `${page} does not list ${name}`);
    const errors = [...Object.keys(FAILURES), ...Object.keys(ERROR_CODES), ...Object.keys(CHAIN_CODES)];
    expect([
      ...missing(
        'docs/configuration.md',
        SETTINGS.map(({ key }) => key),
      ),
      ...missing('docs/events.md', [...Object.keys(RUN_EVENTS), ...Object.keys(SESSION_EVENTS)]),
      ...missing('docs/error-codes.md', errors),
      ...missing('docs/diagnostics.md', Object.keys(DIAGNOSTIC_RULES)),
      ...missing('docs/install-reference.md', [...Object.keys(PACK_PROBLEMS), ...Object.keys(SCAN_RULES)]),
    ]).toEqual([]);
    expect(COMMANDS.size).toBeGreaterThan(40);
  });
});

test('a command is found in blocks and in sentences, with its flags up to the separator', () => {
  const page = [
    'Type `skillwright rum --jsn` or `run --bogus x`.',
    '```sh',
    'npx skillwright exec a b --in f -- --own | cat --all',
    '```',
  ];
  const found = commandsOf(codeOf('x.md', page.join('\n')), (name) => name === 'run');
  expect(found.map(({ line, name, words }) => [line, name, flagsIn(words)])).toEqual([
    [1, 'rum', ['--jsn']],
    [1, 'run', ['--bogus']],
    [3, 'exec', ['--in']],
  ]);
});

describe('the pages', () => {
  test('name no path, host or person of a developer', () => {
    const forbidden: readonly (readonly [RegExp, string])[] = [
      [/(?<![\w:/.])\/(?:work|root|Users)\/[\w.-]+/g, 'a path of a machine'],
      [/\/home\/(?!you\b|me\b)[\w.-]+/g, 'a home folder; pages use /home/you'],
      [/[\w.+-]+@(?!example\.(?:org|com)\b|host\b|v\d)[\w-]+\.[a-z]{2,}\b/g, 'an e-mail address'],
      [/https?:\/\/(?!127\.0\.0\.1|localhost|\[::1\]|host\b)[\w.-]*\.(?:internal|local|lan|corp)\b/g, 'a private host'],
      [
        /\b(?:registry|pypi|npm|mirror|artifactory|nexus)[.-][\w-]+\.(?:com|org|net|io|dev|cn|internal)\b/g,
        'a package registry',
      ],
      ...(os.hostname().length > 5
        ? [[new RegExp(os.hostname().replaceAll('.', '\\.'), 'g'), 'this machine'] as const]
        : []),
    ];
    const found = PAGES.flatMap((page) =>
      read(page)
        .split('\n')
        .flatMap((line, at) =>
          forbidden.flatMap(([pattern, what]) =>
            [...line.matchAll(pattern)].map(([text]) => `${page}:${String(at + 1)}: ${text}: ${what}`),
          ),
        ),
    );
    expect(found).toEqual([]);
  });

  /** Pages that are made from code and tests as a whole, and the requirements, which the conformance tests read. */
  const GENERATED = [
    'api',
    'cli',
    'conformance',
    'diagnostics',
    'error-codes',
    'events',
    'install-reference',
    'requirements',
  ];
  const GENERATED_PARTS =
    /<!-- (?:From here on made|pass table|Measured by)[^]*?<!-- (?:End of the generated part\.|end of the pass table|end) -->/g;
  const byHand = PAGES.filter((page) => page !== 'README.zh-CN.md')
    .filter((page) => !page.startsWith('docs/zh/') && !GENERATED.some((name) => page === `docs/${name}.md`))
    .map((page) => read(page).replaceAll(GENERATED_PARTS, ''))
    .join('\n');
  const words = (text: string): number => text.match(/\S+/g)?.length ?? 0;
  const all = words(byHand).toLocaleString('en');
  const prose = words(byHand.replaceAll(/^(`{3,})[^]*?^\1$/gm, '')).toLocaleString('en');

  test(`written by hand in English have ${all} words, ${prose} without code; at most 52,000`, () => {
    expect(words(byHand)).toBeLessThanOrEqual(52_000);
  });

  /** Lists for machines and tests. */
  const LISTS = new Set(['docs/conformance.md', 'docs/requirements.md', 'docs/cli.md']);

  test('end with what to type or read next', () => {
    const endings = filesBelow('docs', /\.md$/)
      .filter((page) => !LISTS.has(page))
      .filter((page) => {
        const last =
          read(page)
            .trimEnd()
            .split(/\n(?=## |Next: |下一步)/)
            .at(-1) ?? '';
        return !/^(?:Next: |下一步|## (?:Next|下一步|What next|Where to go))/.test(last) || !/`[^`]+`|\]\(/.test(last);
      });
    expect(endings, 'end the page with a line "Next: ..." that names a command or a page').toEqual([]);
  });
});
