import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { compareDiagnostics, DIAGNOSTIC_RULES, printable, sarifReport, type Diagnostic } from '#core';
import { checkAndFix, findCheckTargets, type Runtime } from '#runtime';
import { defineCommand, option, toggle, type Invocation } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { jsonText, plainJson } from '../json.ts';
import { openRuntime } from '../open-runtime.ts';
import { diagnosticCounts, diagnosticJson, diagnosticText } from './show-diagnostics.ts';
import { VERSION } from '../../version.ts';
import type { checkSkill } from '#skills';
import { findProfile } from '#tools/profiles';
import type { Terminal } from '../terminal/terminal.ts';

type CheckOptions = Parameters<typeof checkSkill>[2];

const FORMATS = ['text', 'json', 'sarif', 'github'] as const;

const flags = {
  fix: toggle('fix in place what can be fixed automatically'),
  'dry-run': toggle('with --fix: print the changes without writing'),
  lenient: toggle('validate like a loader, not like a publisher'),
  catalog: toggle('also report skills that a model could confuse'),
  'warnings-as-errors': toggle('exit with 1 on warnings too'),
  format: option('FORMAT', 'print as text, json, sarif or github (workflow annotations) (default: text)', {
    choices: FORMATS,
  }),
} as const;

export const command = defineCommand({
  usage: 'check [PATH|NAME...] [--fix [--dry-run]] [--catalog] [--format text|json|sarif|github]',
  details: [
    'Validates skills against the specification: frontmatter, body, referenced files and scripts.',
    'PATH is a skill folder, its SKILL.md, or a folder of skills; NAME is a skill from skillwright list. Without arguments: the skill in the current folder or, without one, the skills of this project.',
    'Exit code 1: at least one error.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright check', 'validate the skills of this project'],
    ['skillwright check ./my-skill --fix', 'fix quotes, line endings, tabs and names'],
    ['skillwright check skills --catalog', 'report skills that a model could confuse'],
    ['skillwright check skills --format sarif > skills.sarif', 'write SARIF for a code host'],
  ],
  positionals: [0, Number.POSITIVE_INFINITY],
  async run(invocation) {
    const { flags: flagValues, terminal } = invocation;
    if (flagValues['dry-run'] === true && flagValues.fix !== true)
      throw usageError('--dry-run needs --fix', 'skillwright check --fix --dry-run');
    const runtime = await openRuntime(invocation);
    const options = checkOptions(runtime, flagValues.lenient === true);
    const { skills, diagnostics: unopened } = await findCheckTargets(invocation.positionals, runtime, {
      ...options,
      cwd: invocation.surroundings.cwd,
      source: flagValues.source,
      signal: invocation.signal,
    });
    const checked = skills.map((target) =>
      checkAndFix(target, options, { dryRun: flagValues.fix !== true || flagValues['dry-run'] === true }),
    );
    const isFixing = flagValues.fix === true;
    const diagnostics = [
      ...unopened,
      ...checked.flatMap((skill) => (isFixing ? skill.diagnostics : skill.found)),
      ...(flagValues.catalog === true ? await catalogDiagnostics(checked, options) : []),
    ].toSorted(compareDiagnostics);
    print({ invocation, checked, diagnostics, isFixing });
    const isBad = diagnostics.some(
      ({ severity }) => severity === 'error' || (severity === 'warning' && flagValues['warnings-as-errors'] === true),
    );
    if (!isBad && flagValues.format === undefined && flagValues.json !== true)
      terminal.remark(terminal.style('green', `${String(checked.length)} checked, no violations`));
    return isBad ? EXIT.failed : EXIT.done;
  },
});

type CheckInvocation = Invocation<typeof flags>;
type FixedSkill = ReturnType<typeof checkAndFix>;

function checkOptions({ config }: Runtime, isLenient: boolean): CheckOptions {
  return {
    mode: isLenient ? 'lenient' : 'strict',
    maxBodyLines: config.security?.max_skill_body_lines,
    maxBodyCharacters: config.security?.max_skill_body_characters,
    blockAngleBrackets: config.security?.block_angle_brackets_in_frontmatter,
    tolerated: findProfile(config.vocabulary).tolerates,
  };
}

/** Compares the checked skills with each other. Only this loads the search engine. */
async function catalogDiagnostics(
  checked: readonly FixedSkill[],
  { mode }: CheckOptions,
): Promise<readonly Diagnostic[]> {
  const [{ confusableDiagnostics }, { readHead }] = await Promise.all([
    import('#runtime/confusable-skills'),
    import('#skills/read-head'),
  ]);
  const skills = checked.flatMap(({ file, text }) => {
    const place = { path: file, directory: path.basename(path.dirname(file)), fileName: path.basename(file) };
    const { head } = readHead({ ...place, text, validUtf8: true }, { mode: 'lenient' });
    return head === undefined ? [] : [{ name: head.name, description: head.description, file }];
  });
  return confusableDiagnostics(skills, mode);
}

interface CheckResult {
  readonly invocation: CheckInvocation;
  readonly checked: readonly FixedSkill[];
  readonly diagnostics: readonly Diagnostic[];
  readonly isFixing: boolean;
}

function print({
  invocation: { flags: options, terminal, surroundings },
  checked,
  diagnostics,
  isFixing,
}: CheckResult): void {
  const format = options.json === true ? 'json' : (options.format ?? 'text');
  const ok = !diagnostics.some(({ severity }) => severity === 'error');
  const fixed = isFixing ? checked.flatMap(({ applied }) => applied) : [];
  switch (format) {
    case 'json':
      terminal.out(
        jsonText({
          ok,
          checked: checked.length,
          diagnostics: diagnostics.map(diagnosticJson),
          ...(isFixing ? { fixed: fixed.map(diagnosticJson) } : {}),
        }),
      );
      return;
    case 'sarif':
      terminal.out(plainJson(sarif(diagnostics, surroundings.cwd)));
      return;
    case 'github':
      terminal.out(diagnostics.map(annotation));
      return;
    default:
      if (isFixing) terminal.out(checked.flatMap((skill) => fixLines(skill, options['dry-run'] === true, terminal)));
      terminal.out(diagnostics.map((diagnostic) => diagnosticText(diagnostic, terminal)));
      if (diagnostics.length > 0) terminal.remark(summary(diagnostics, checked.length, isFixing));
  }
}

function summary(diagnostics: readonly Diagnostic[], checked: number, isFixing: boolean): string {
  const fixable = diagnostics.filter(({ edit }) => edit !== undefined).length;
  const advice = fixable > 0 && !isFixing ? `; --fix repairs ${String(fixable)}` : '';
  return `${String(checked)} checked: ${diagnosticCounts(diagnostics)}${advice}`;
}

function fixLines(
  { file, text, fixedText, applied }: FixedSkill,
  isDryRun: boolean,
  { style }: Terminal,
): readonly string[] {
  if (applied.length === 0) return [];
  const [before, after] = [text.split('\n'), fixedText.split('\n')];
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end))
    end += 1;
  const lines = [
    ...before.slice(start, before.length - end).map((line) => style('red', `- ${printable(line)}`)),
    ...after.slice(start, after.length - end).map((line) => style('green', `+ ${printable(line)}`)),
  ];
  const verb = isDryRun ? 'would fix' : 'fixed';
  return [
    `${style('bold', `${verb} ${printable(file)}`)} (${applied.map(({ code }) => code).join(', ')})`,
    ...lines.slice(0, 60),
  ];
}

/** A GitHub workflow command; percent signs, line breaks and separators are escaped as GitHub requires. */
function annotation({ severity, path: file, line, column, code, message, hint }: Diagnostic): string {
  const data = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
  const level = severity === 'info' ? 'notice' : severity;
  return `::${level} file=${property(file)},line=${String(line)},col=${String(column)},title=${property(code)}::${data(`${message}. ${hint}`)}`;
}

const LEVELS = { error: 'error', warning: 'warning', info: 'note' } as const;

/** Diagnostics as SARIF 2.1.0. Paths below `base` are relative to it. */
function sarif(diagnostics: readonly Diagnostic[], base: string): object {
  const used = [...new Set(diagnostics.map(({ code }) => code))].toSorted();
  return sarifReport({
    version: VERSION,
    rules: used.map((code) => {
      const rule: (typeof DIAGNOSTIC_RULES)[Diagnostic['code']] = DIAGNOSTIC_RULES[code];
      return {
        id: code,
        shortDescription: { text: rule.about },
        help: { text: rule.hint },
        defaultConfiguration: { level: LEVELS[rule.strict] },
      };
    }),
    results: diagnostics.map(({ code, severity, message, hint, path: file, line, column }) => ({
      artifact: location(file, base),
      line,
      column,
      about: {
        ruleId: code,
        ruleIndex: used.indexOf(code),
        level: LEVELS[severity],
        message: { text: `${message}. ${hint}` },
      },
    })),
  });
}

function location(file: string, base: string): object {
  const relative = path.relative(base, file);
  if (relative.startsWith('..') || path.isAbsolute(relative)) return { uri: pathToFileURL(file).href };
  return { uri: relative.split(path.sep).map(encodeURIComponent).join('/'), uriBaseId: '%SRCROOT%' };
}
