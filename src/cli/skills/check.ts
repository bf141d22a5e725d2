import path from 'node:path';

import { compareDiagnostics } from '../../core/diagnostic.ts';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { SkillError } from '../../core/errors.ts';
import { printable, quoted } from '../../core/text/text.ts';
import type { CheckOptions } from '../../loader/check-skill.ts';
import { isPresent } from '../../platform/fs/paths.ts';
import { checkAndFix, sourceTargets, targetsAt } from '../../runtime/check.ts';
import type { FixedSkill, Targets } from '../../runtime/check.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { defineCommand } from '../command.ts';
import type { Invocation } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { jsonText } from '../json.ts';
import { openRuntime } from '../open-runtime.ts';
import { sarif } from './sarif.ts';
import { countText, diagnosticJson, diagnosticText } from './show-diagnostics.ts';
import type { Terminal } from '../terminal/terminal.ts';

const FORMATS = ['text', 'json', 'sarif', 'github'] as const;

const flags = {
  fix: { type: 'boolean', about: 'mend what can be mended mechanically, in place' },
  'dry-run': { type: 'boolean', about: 'with --fix: show what would change and write nothing' },
  lenient: { type: 'boolean', about: 'judge as a loader does, not as a publisher must' },
  catalog: { type: 'boolean', about: 'also look for skills that a model could take for each other' },
  'warnings-as-errors': { type: 'boolean', about: 'exit 1 for warnings too' },
  format: {
    type: 'string',
    value: 'FORMAT',
    choices: FORMATS,
    about: 'text, json, sarif, or github (annotations of a workflow)',
  },
} as const;

export const command = defineCommand({
  usage: 'check [PATH|NAME...] [--fix [--dry-run]] [--catalog] [--format text|json|sarif|github]',
  details: [
    'Checks skills against the specification: frontmatter, body, files that the body points at, scripts.',
    'PATH is a skill’s folder, its SKILL.md, or a folder of skills; NAME is a skill that list shows. With neither: the skill in',
    'this folder or, if there is none, the skills of this project. Exit 1 when there are errors.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright check', 'the skills of this project'],
    ['skillwright check ./my-skill --fix', 'mend quotes, line ends, tabs, names'],
    ['skillwright check skills --catalog', 'which of them a model could take for each other'],
    ['skillwright check skills --format sarif > skills.sarif', 'for a code host'],
  ],
  positionals: [0, Number.POSITIVE_INFINITY],
  async run(invocation) {
    const { flags: given, terminal } = invocation;
    if (given['dry-run'] === true && given.fix !== true)
      throw new UsageError('--dry-run needs --fix', 'skillwright check --fix --dry-run');
    const runtime = await openRuntime(invocation);
    const options = checkOptions(runtime, given.lenient === true);
    const { skills, diagnostics: unopened } = await collect(invocation, runtime, options);
    const checked = skills.map((target) =>
      checkAndFix(target, options, { dryRun: given.fix !== true || given['dry-run'] === true }),
    );
    const isFixing = given.fix === true;
    const diagnostics = [
      ...unopened,
      ...checked.flatMap((skill) => (isFixing ? skill.diagnostics : skill.found)),
      ...(given.catalog === true ? await catalogDiagnostics(checked, options) : []),
    ].toSorted(compareDiagnostics);
    print({ invocation, checked, diagnostics, isFixing });
    const isBad = diagnostics.some(
      ({ severity }) => severity === 'error' || (severity === 'warning' && given['warnings-as-errors'] === true),
    );
    if (!isBad && given.format === undefined && given.json !== true)
      terminal.remark(terminal.style('green', `${String(checked.length)} checked, nothing against the specification`));
    return isBad ? EXIT.failed : EXIT.done;
  },
});

type CheckInvocation = Invocation<typeof flags>;

function checkOptions({ config }: Runtime, isLenient: boolean): CheckOptions {
  return {
    mode: isLenient ? 'lenient' : 'strict',
    maxBodyLines: config.security?.max_skill_body_lines,
    maxBodyCharacters: config.security?.max_skill_body_characters,
    blockAngleBrackets: config.security?.block_angle_brackets_in_frontmatter,
  };
}

async function collect(
  { flags: given, positionals, signal }: CheckInvocation,
  runtime: Runtime,
  options: CheckOptions,
): Promise<Targets> {
  const cwd = path.resolve(given.cwd ?? '.');
  if (positionals.length === 0)
    return (await ownTargets(cwd, options, signal)) ?? sourceTargets(runtime.index, given.source ?? 'project');
  const found: Targets[] = [];
  for (const word of positionals) {
    const at = await targetsAt(path.resolve(cwd, word), options, signal);
    if (at === undefined && /[/\\]/.test(word)) throw nothingAt(word);
    found.push(at ?? { skills: [runtime.find(word, given.source)], diagnostics: [] });
  }
  const skills = new Map(found.flatMap((targets) => targets.skills).map((target) => [target.dir, target]));
  return { skills: [...skills.values()], diagnostics: found.flatMap((targets) => targets.diagnostics) };
}

/** Between the skills that are checked; the search engine is loaded only here. */
async function catalogDiagnostics(
  checked: readonly FixedSkill[],
  { mode }: CheckOptions,
): Promise<readonly Diagnostic[]> {
  const [{ confusableDiagnostics }, { readHead }] = await Promise.all([
    import('../../runtime/search/confusable-skills.ts'),
    import('../../format/read-head.ts'),
  ]);
  const skills = checked.flatMap(({ file, text }) => {
    const place = { path: file, directory: path.basename(path.dirname(file)), fileName: path.basename(file) };
    const { head } = readHead({ ...place, text, validUtf8: true }, { mode: 'lenient' });
    return head === undefined ? [] : [{ name: head.name, description: head.description, file }];
  });
  return confusableDiagnostics(skills, mode);
}

async function ownTargets(cwd: string, options: CheckOptions, signal: AbortSignal): Promise<Targets | undefined> {
  return isPresent(path.join(cwd, 'SKILL.md')) ? targetsAt(cwd, options, signal) : undefined;
}

function nothingAt(word: string): SkillError {
  return new SkillError({
    code: 'input/invalid',
    message: `there is nothing at ${quoted(word, 200)}`,
    hint: 'give a skill’s folder, its SKILL.md, or a folder of skills',
    data: { expected: 'a path or the name of a skill' },
  });
}

interface Outcome {
  readonly invocation: CheckInvocation;
  readonly checked: readonly FixedSkill[];
  readonly diagnostics: readonly Diagnostic[];
  readonly isFixing: boolean;
}

function print({ invocation: { flags: given, terminal }, checked, diagnostics, isFixing }: Outcome): void {
  const format = given.json === true ? 'json' : (given.format ?? 'text');
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
      terminal.out(JSON.stringify(sarif(diagnostics, path.resolve(given.cwd ?? '.')), undefined, 2));
      return;
    case 'github':
      for (const diagnostic of diagnostics) terminal.out(annotation(diagnostic));
      return;
    default:
      for (const skill of isFixing ? checked : [])
        for (const line of fixLines(skill, given['dry-run'] === true, terminal)) terminal.out(line);
      for (const diagnostic of diagnostics) terminal.out(diagnosticText(diagnostic, terminal));
      if (diagnostics.length > 0) terminal.remark(summary(diagnostics, checked.length, isFixing));
  }
}

function summary(diagnostics: readonly Diagnostic[], checked: number, isFixing: boolean): string {
  const mendable = diagnostics.filter(({ edit }) => edit !== undefined).length;
  const advice = mendable > 0 && !isFixing ? `; --fix mends ${String(mendable)}` : '';
  return `${String(checked)} checked: ${countText(diagnostics)}${advice}`;
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
  const verb = isDryRun ? 'would mend' : 'mended';
  return [
    `${style('bold', `${verb} ${printable(file)}`)} (${applied.map(({ code }) => code).join(', ')})`,
    ...lines.slice(0, 60),
  ];
}

/** The workflow command of GitHub; percent, line ends and separators are written as it asks. */
function annotation({ severity, path: file, line, column, code, message, hint }: Diagnostic): string {
  const data = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
  const level = severity === 'info' ? 'notice' : severity;
  return `::${level} file=${property(file)},line=${String(line)},col=${String(column)},title=${property(code)}::${data(`${message}. ${hint}`)}`;
}
