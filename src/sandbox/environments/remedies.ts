/** Turns the error output of a failed script into the command that fixes it. Pure: what is installed comes from the caller. */
import { printable, typedWord, scriptPath, type ProgramAction } from '#core';
import { debianPackageOfModule, packageOfModule } from './import-names.ts';
import { installHint, isKnownProgram, packageOfProgram, type PackageManager } from './system-packages.ts';
import { openConfined, type ConfinedDirectory } from '#platform';
import type { ProgramMachine } from '../programs/preflight.ts';
import { importedModules, type ImportedModules } from './import-scan.ts';
import { readSkillText } from './skill-text.ts';
import { findPackage, mentionedPackages, missingModules } from './suggested-packages.ts';
import type { ProjectView, StagedSkill } from '../program-types.ts';

export interface FailedScript {
  /** Standard error, or its last part. */
  readonly stderr: string;
  /** The command that runs the script again: `skillwright exec pdf fill.py`. */
  readonly again: string;
  /** A model ran the script and can ask for packages itself. */
  readonly canAsk?: boolean;
  /** The program is a command that belongs to no skill. */
  readonly isShell?: boolean;
  /** The command that runs the script as a module of its package; absent for a command line. */
  readonly asModule?: string;
  /** Names that Python could import from the folder of the skill. */
  readonly own?: readonly string[];
  /** Modules and packages that the script imports and this machine lacks, by the static scan. */
  readonly missing: ImportedModules;
  /** Packages that the documents of the skill tell the reader to install. */
  readonly mentioned: ImportedModules;
  /** Of the machine on which programs run (default: this one). */
  readonly manager?: PackageManager | undefined;
  /** The program was stopped because its time was over. */
  readonly isTimeout?: boolean;
  /** How the program sees the project. */
  readonly project?: ProjectView;
}

const MAX_TEXT = 64 * 1024;
const MODULE = /(?:ModuleNotFoundError|ImportError): No module named '?(\w[\w.]{0,99})'?/;
const NODE_MODULE = /Cannot find (?:package|module) '((?:@[\w.-]{1,100}\/)?[\w.-]{1,100})(?:\/[^']{0,200})?'/;
const PROGRAMS: readonly RegExp[] = [
  // bash, dash, env and Node.
  /(?:^|\n)[^\n]{0,300}?(?:line \d+: |: \d+: |: )([\w.+-]{1,64}): (?:command )?not found(?:\n|$)/,
  /env: '?([\w.+-]{1,64})'?: No such file or directory/,
  /spawn(?:Sync)? ([\w.+-]{1,64}) ENOENT/,
  /(?:^|\n)[^\n]{0,200}?\b([\w.+-]{1,64}) (?:is )?not (?:found|installed) (?:in|on) (?:your )?PATH/i,
];
/** Python's words for a missing file too; the traceback shows whether a program was started. */
const PYTHON_PROGRAM = /FileNotFoundError: \[Errno 2\] No such file or directory: '([\w.+-]{1,64})'/;
const PYTHON_STARTS = /, in _execute_child\n/;
/** Scripts word it in many ways, so these count only for programs whose package is known. */
const KNOWN_PROGRAMS: readonly RegExp[] = [
  /(?:^|\n)[^\w\n]{0,10}([\w.+-]{2,64}) (?:is |was )?not (?:found|installed)\b/gi,
  new RegExp(PYTHON_PROGRAM, 'g'),
];
const VARIABLES: readonly RegExp[] = [
  /KeyError: '([A-Z][A-Z0-9_]{2,80})'/,
  /\b([A-Z][A-Z0-9_]{2,70}_(?:KEY|TOKEN|SECRET|PASSWORD|URL|ID))\b[^\n]{0,80}(?:not set|missing|required|must be set|undefined|environment)/i,
  /(?:not set|missing|required|must set|please set|export|environment variable)[^\n]{0,40}\b([A-Z][A-Z0-9_]{2,70}_(?:KEY|TOKEN|SECRET|PASSWORD|URL|ID))\b/i,
];

/** One line that names the cause and the exact command, or undefined where the output shows no known cause. */
export function remedyFor(failed: FailedScript): string | undefined {
  const stderr = failed.stderr.slice(-MAX_TEXT);
  return (
    moduleRemedy(stderr, failed) ??
    pythonRemedy(stderr, failed) ??
    nodeRemedy(stderr, failed) ??
    programRemedy(stderr, failed) ??
    variableRemedy(stderr, failed) ??
    installRemedy(stderr, failed) ??
    projectRemedy(stderr, failed) ??
    serveRemedy(stderr, failed)
  );
}

function moduleRemedy(stderr: string, { asModule, own = [] }: FailedScript): string | undefined {
  const [top = ''] = MODULE.exec(stderr)?.[1]?.split('.') ?? [];
  if (asModule === undefined || !(own.includes(top) || stderr.includes('ImportError: attempted relative import')))
    return undefined;
  return `the script is a module of a package; run: ${asModule}`;
}

function pythonRemedy(stderr: string, failed: FailedScript): string | undefined {
  const module = MODULE.exec(stderr)?.[1];
  if (module === undefined) return undefined;
  const [top = ''] = module.split('.');
  const known = findPackage(top, failed.mentioned);
  const others = failed.missing.python.filter((name) => name !== top && packageOfModule(name) !== undefined);
  const what = `the Python module ${printable(module)} is missing`;
  if (known === undefined) {
    const named = failed.mentioned.python.slice(0, 8);
    const hint = named.length === 0 ? '' : `; the skill mentions: pip install ${named.join(' ')}`;
    return `${what} and its package is unknown${hint}; find the package that provides it, then ${command(failed, ['PACKAGE'])}`;
  }
  const debian = [top, ...others].map(debianPackageOfModule);
  const system = debian.includes(undefined) || failed.canAsk === true ? '' : ` (or: apt install ${debian.join(' ')})`;
  return `${what}; ${command(failed, [known, ...others.flatMap((name) => packageOfModule(name) ?? [])])}${system}`;
}

function nodeRemedy(stderr: string, failed: FailedScript): string | undefined {
  const found = NODE_MODULE.exec(stderr)?.[1];
  if (found === undefined || found.startsWith('.') || found.startsWith('/')) return undefined;
  const others = failed.missing.node.filter((name) => name !== found);
  // Node resolves packages by their own names, so there is no other name to guess; a misspelled import stays the script's fault.
  return `the Node package ${printable(found)} is missing; ${command(
    failed,
    [found, ...others].map((name) => `npm:${name}`),
  )}`;
}

function programRemedy(stderr: string, failed: FailedScript): string | undefined {
  for (const pattern of PYTHON_STARTS.test(stderr) ? [PYTHON_PROGRAM, ...PROGRAMS] : PROGRAMS) {
    const program = pattern.exec(stderr)?.[1];
    if (program !== undefined) return missingProgram(printable(program), failed);
  }
  const known = KNOWN_PROGRAMS.flatMap((pattern) => [...stderr.matchAll(pattern)])
    .map(([, name = '']) => [name, name.toLowerCase()].find(isKnownProgram))
    .find((name) => name !== undefined);
  return known === undefined ? undefined : missingProgram(known, failed);
}

function missingProgram(program: string, failed: FailedScript): string {
  const index = packageOfProgram(program);
  const how = index === undefined ? installHint(program, failed.manager) : command(failed, [index]);
  return `the program ${program} is missing; ${how}`;
}

/** A script may say itself what to install, which works outside of a sandbox only. */
function installRemedy(stderr: string, failed: FailedScript): string | undefined {
  const { python, node } = mentionedPackages(stderr.slice(-LAST_LINES));
  const packages = [...python, ...node.map((name) => `npm:${name}`)].slice(0, MAX_PACKAGES);
  return packages.length === 0 ? undefined : `the script asks for packages; ${command(failed, packages)}`;
}

const LAST_LINES = 1_000;
const MAX_PACKAGES = 8;

/** What scripts print that look for a Git repository in the folder in which they start. */
const NO_REPOSITORY =
  /\bnot (?:in|inside|within)?\s?(?:of )?a git repo|\b(?:within|inside|in|from) (?:of )?a git repo|determine (?:the )?current (?:git )?branch/i;

function projectRemedy(stderr: string, { project, again, canAsk, isShell }: FailedScript): string | undefined {
  if (project?.access === 'none' && NO_REPOSITORY.test(stderr))
    return `the program does not see the project; run: ${again} --project read`;
  if (project?.access !== 'read' || !isWriteRefused(stderr, project.folder)) return undefined;
  const what = 'programs cannot write to the project';
  return canAsk === true || isShell === true
    ? `${what}, only to $WORK_DIR and $OUTPUT_DIR; the user lets them with --project write (chat: skillwright chat --resume last --project write)`
    : `${what}; run: ${again} --project write`;
}

const SERVED = /\bhttps?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0):(\d{2,5})\b/;

/** A page that a script serves is reached from outside of the sandbox only through a port that is opened. */
function serveRemedy(output: string, { isTimeout, again }: FailedScript): string | undefined {
  const port = isTimeout === true ? SERVED.exec(output)?.[1] : undefined;
  return port === undefined ? undefined : `the program serves port ${port}; to open it, run: ${again} --serve ${port}`;
}

const READ_ONLY = /^.*(?:\bEROFS\b|read-only file system).*$/gim;
const ABSOLUTE = /(?<![\w./~-])\/[\w.@+-][^\s'"‘’:,]*/g;

/** Whether a line says that the file system is read-only, and names no file elsewhere. */
function isWriteRefused(stderr: string, project: string): boolean {
  return [...stderr.matchAll(READ_ONLY)].some(([line]) =>
    [...line.matchAll(ABSOLUTE)].every(([file]) => file === project || file.startsWith(`${project}/`)),
  );
}

function variableRemedy(stderr: string, failed: FailedScript): string | undefined {
  for (const pattern of VARIABLES) {
    const name = pattern.exec(stderr)?.[1];
    if (name !== undefined)
      return `the script needs the variable ${name}; run: ${failed.again} --env ${name}=VALUE (or add it to secrets in the user configuration)`;
  }
  return undefined;
}

function command(failed: FailedScript, packages: readonly string[]): string {
  if (failed.canAsk === true && failed.isShell === true && !packages.some((name) => name.startsWith('npm:')))
    return `run: pip install ${packages.map(typedWord).join(' ')}, or tell the user to add --with for each`;
  const run = `run: ${[failed.again, ...packages.map((name) => `--with ${typedWord(name)}`)].join(' ')}`;
  return failed.canAsk === true
    ? `call the tool again with packages: ${JSON.stringify(packages)}, or tell the user to ${run}`
    : run;
}

const NOTHING: ImportedModules = { python: [], node: [] };

/** Explains why a program failed and names the command that fixes it, where its output shows a missing package, program or variable. */
export async function explainFailure(
  output: string,
  action: ProgramAction,
  staged: StagedSkill | undefined,
  { canAsk, project, isTimeout, ...machine }: ProgramMachine & Pick<FailedScript, 'canAsk' | 'project' | 'isTimeout'>,
): Promise<string | undefined> {
  const again = commandAgain(action, staged);
  const asModule = moduleCommand(action, staged);
  const isShell = action.type === 'run_command' && staged === undefined;
  const manager = machine.inspect === undefined ? undefined : 'image';
  const shown = { stderr: output, again, canAsk, isShell, asModule, manager, project, isTimeout } as const;
  const plain = { ...shown, missing: NOTHING, mentioned: NOTHING };
  // Reading the files of the skill is worth it only where the output shows a cause at all.
  if (staged === undefined || remedyFor(plain) === undefined) return remedyFor(plain);
  const opening = openConfined(staged.snapshot);
  if (opening.type === 'failed') return remedyFor(plain);
  const { directory } = opening;
  try {
    const imported = action.type === 'run_script' ? importedModules(directory, scriptPath(action)) : NOTHING;
    return remedyFor({
      ...plain,
      missing: { python: await missingModules(imported.python, machine), node: imported.node },
      own: importableNames(directory),
      mentioned: mentionedPackages(readSkillText(directory, 'SKILL.md') ?? ''),
    });
  } finally {
    directory.close();
  }
}

/** `scripts` for a skill whose scripts import each other as `scripts.helper`. */
function importableNames(directory: ConfinedDirectory): readonly string[] {
  const { files } = directory.list({ maxFiles: 2_000, maxDepth: 3 });
  const names = files.flatMap(({ path }) => /^([A-Za-z_]\w*)(?:\.py$|\/)/.exec(path)?.[1] ?? []);
  return [...new Set(names)];
}

function commandAgain(action: ProgramAction, staged: StagedSkill | undefined): string {
  const skill = typedWord(staged?.name ?? 'SKILL');
  if (action.type === 'run_script')
    return `skillwright exec ${skill} ${typedWord(action.script.replace(/^scripts\//, ''))}`;
  return `skillwright exec ${skill} --command ${typedWord(action.command)}`;
}

/** Relative imports work where Python knows the package, which starts in the folder of the skill. */
function moduleCommand(action: ProgramAction, staged: StagedSkill | undefined): string | undefined {
  if (action.type !== 'run_script' || staged === undefined || !action.script.endsWith('.py')) return undefined;
  const module = scriptPath(action)
    .replace(/(?:\/__init__)?\.py$/, '')
    .replaceAll('/', '.');
  const line = typedWord(`python3 -m ${module}`);
  return `skillwright exec ${typedWord(staged.name)} --command ${line}`;
}
