import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { GLOBAL_FLAGS } from '../src/cli/command.ts';
import type { Flag, Flags } from '../src/cli/command.ts';
import { COMMANDS } from '../src/cli/commands.ts';
import { DIAGNOSTIC_RULES } from '../src/core/diagnostic-codes.ts';
import type { DiagnosticRule } from '../src/core/diagnostic-codes.ts';
import { FAILURES } from '../src/core/failure-codes.ts';
import { citations } from './conformance/cited.ts';
import { REQUIREMENTS } from './conformance/requirements.ts';
import { PROJECT, filesBelow } from './files-below.ts';

const read = (file: string): string =>
  existsSync(path.join(PROJECT, file)) ? readFileSync(path.join(PROJECT, file), 'utf8') : '';

/** Holds a page equal to what the code says; `npm run docs` writes it. */
function expectPage(file: string, text: string): void {
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(path.join(PROJECT, file), text);
  expect(read(file), `${file} is out of step: npm run docs`).toBe(text);
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

describe('pages made from code', () => {
  test('docs/conformance.md lists every requirement with its tests', () => {
    const cited = citations();
    const sections = Object.entries(REQUIREMENTS).map(([id, { behaviour, claimed }]) => {
      const tests = cited
        .filter((citation) => citation.id === id)
        .map((citation) => `- ${citation.behaviour} (\`${citation.file}\`)`);
      return [`### ${id}`, '', behaviour, '', ...(claimed ? tests : ['*Not built yet.*'])].join('\n');
    });
    const count = Object.values(REQUIREMENTS).filter(({ claimed }) => claimed).length;
    expectPage(
      'docs/conformance.md',
      `# Conformance\n\n${String(count)} of ${String(Object.keys(REQUIREMENTS).length)} requirements listed here are claimed, each with the tests that show it. Made by \`npm run docs\`.\n\n${sections.join('\n\n')}\n`,
    );
  });

  test('docs/diagnostics.md lists every code', () => {
    const rows = Object.entries<DiagnosticRule>(DIAGNOSTIC_RULES).map(
      ([code, { strict, lenient, excludes, about, hint }]) =>
        `| \`${code}\` | ${cell(about)} | ${strict} | ${lenient}${excludes ? ', left out' : ''} | ${cell(hint)} |`,
    );
    expectPage(
      'docs/diagnostics.md',
      `# Diagnostics\n\nEvery code, what it means, how it is judged by \`check\` (strict) and while loading (lenient), and what to do. Codes keep their meaning. Made by \`npm run docs\`.\n\n| code | problem | strict | lenient | what to do |\n|---|---|---|---|---|\n${rows.join('\n')}\n`,
    );
  });

  test('docs/failures.md lists every way an action can fail', () => {
    const rows = Object.entries(FAILURES).map(([code, hint]) => `| \`${code}\` | ${cell(hint)} |`);
    expectPage(
      'docs/failures.md',
      `# Failures\n\nWhat an action can fail with, and what a model is told to do then. Codes keep their meaning. Made by \`npm run docs\`.\n\n| code | what to do |\n|---|---|\n${rows.join('\n')}\n`,
    );
  });

  test('docs/cli.md describes every command and flag', async () => {
    const commands = await Promise.all(
      COMMANDS.map(async ({ name, aliases, summary, load }) => {
        const { command } = await load();
        const flags = flagRows(command.flags);
        return [
          `## ${name}`,
          '',
          `${summary[0]?.toUpperCase() ?? ''}${summary.slice(1)}.${aliases.length === 0 ? '' : ` Also: ${aliases.map((alias) => `\`${alias}\``).join(', ')}.`}`,
          '',
          `    skillwright ${command.usage}`,
          '',
          command.details,
          ...(flags.length === 0 ? [] : ['', '| flag | |', '|---|---|', ...flags]),
          '',
          '```sh',
          ...command.examples.map(([line, about]) => `${line}   # ${about}`),
          '```',
        ].join('\n');
      }),
    );
    const mark = '<!-- From here on made by `npm run docs`. -->\n';
    const [intro = ''] = read('docs/cli.md').split(mark);
    expectPage(
      'docs/cli.md',
      `${intro}${mark}\n## Flags of every command\n\n| flag | |\n|---|---|\n${flagRows(GLOBAL_FLAGS).join('\n')}\n\n${commands.join('\n\n')}\n`,
    );
  });
});

function flagRows(flags: Flags): readonly string[] {
  const written = ([name, { short, value }]: readonly [string, Flag]): string =>
    `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
  return Object.entries(flags).map(([name, flag]) => `| \`${written([name, flag])}\` | ${cell(flag.about)} |`);
}

describe('the documentation', () => {
  const pages = [
    'README.md',
    'README.zh-CN.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'CHANGELOG.md',
    'AGENTS.md',
    ...filesBelow('docs', /\.md$/),
  ];

  test('has no dead local links', () => {
    const dead = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
        .map(([, target = '']) => path.posix.join(path.posix.dirname(page), target))
        .filter((target) => !existsSync(path.join(PROJECT, target)))
        .map((target) => `${page}: ${target}`),
    );
    expect(dead).toEqual([]);
  });

  test('the Chinese page has the sections, commands and links of the English one', () => {
    const shape = (text: string): unknown => ({
      sections: text.match(/^#+ /gm)?.length,
      commands: text.match(/^(?:npx|npm) [a-z]+ [a-z&]+/gm),
      links: [...text.matchAll(/\]\(([^)]+)\)/g)]
        .map(([, target]) => target)
        .filter((target) => !target?.startsWith('README')),
      code: text.match(/^(?:import|const) .*?=/gm),
    });
    expect(shape(read('README.zh-CN.md'))).toEqual(shape(read('README.md')));
  });

  test('the loop of the README is the one that the tests run', () => {
    const [, loop = ''] = /```ts\n([\s\S]*?)```/.exec(read('README.md')) ?? [];
    expect(loop.split('\n').length).toBeLessThanOrEqual(16);
    expect(read('examples/own-loop.ts')).toContain(loop);
  });

  test('what the pages show in code can be imported', () => {
    const doors = ['index', 'core', 'agent', 'tools', 'evals', 'packs', 'testing'].map((name) =>
      read(`src/${name}.ts`),
    );
    const open = new Set(doors.flatMap((text) => text.match(/\w+/g) ?? []));
    const ours = filesBelow('src', /\.ts$/).flatMap((file) =>
      [...read(file).matchAll(/^export (?:async )?function\*? (\w+)/gm)].map(([, name = '']) => name),
    );
    const closed = new Set(ours.filter((name) => !open.has(name)));
    const shown = pages.flatMap((page) =>
      [...read(page).matchAll(/```ts\n([\s\S]*?)```/g)]
        .flatMap(([, code = '']) => [...code.matchAll(/(?<![.\w])(\w+)\(/g)])
        .map(([, name = '']) => ({ page, name })),
    );
    expect(shown.filter(({ name }) => closed.has(name))).toEqual([]);
  });

  test('AGENTS.md names every folder of src and no folder that is gone, in at most 120 lines', () => {
    const text = read('AGENTS.md');
    const folders = new Set(filesBelow('src', /\.ts$/).map((file) => path.posix.dirname(file)));
    const named = [...text.matchAll(/(?<=^ {4})src\/[a-z]+(?=\/ )/gm)].map(([folder]) => folder);
    const isNamed = (folder: string): boolean => text.includes(`${path.posix.basename(folder)}/`);
    expect([...folders].filter((folder) => !isNamed(folder))).toEqual([]);
    expect(named.filter((folder) => !existsSync(path.join(PROJECT, folder)))).toEqual([]);
    expect(text.split('\n').length).toBeLessThanOrEqual(121);
  });

  test('every code that a page cites exists', () => {
    const codes = new Set([...Object.keys(DIAGNOSTIC_RULES), ...Object.keys(FAILURES)]);
    const areas = new Set([...codes].map((code) => code.split('/')[0]));
    const wrong = pages.flatMap((page) =>
      [...read(page).matchAll(/`([a-z-]+)\/([a-z0-9-]+)`/g)]
        .filter(([, area = '', rest = '']) => areas.has(area) && !codes.has(`${area}/${rest}`))
        .map(([text]) => `${page}: ${text}`),
    );
    expect(wrong).toEqual([]);
  });
});
