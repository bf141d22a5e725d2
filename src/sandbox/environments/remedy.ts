import { scriptPath, typedWord, type StagedSkill, type ProgramAction } from '#core';
import { openConfined, type ConfinedDirectory } from '#platform';
import type { ProgramMachine } from '../programs/preflight.ts';
import { importedModules, type ImportedModules } from './import-scan.ts';
import { mentionedPackages, remedyFor } from './remedies.ts';
import { readSkillText } from './skill-text.ts';
import { missingModules } from './suggested-packages.ts';

/** Explains why a program failed and names the command that fixes it, where its output shows a missing package, program or variable. */
export async function explainFailure(
  output: string,
  action: ProgramAction,
  staged: StagedSkill | undefined,
  { canAsk, ...machine }: ProgramMachine & { readonly canAsk: boolean },
): Promise<string | undefined> {
  const again = commandAgain(action, staged);
  const plain = {
    stderr: output,
    again,
    canAsk,
    ...moduleCommand(action, staged),
    missing: { python: [], node: [] },
    mentioned: { python: [], node: [] },
  };
  // Reading the files of the skill is worth it only where the output shows a cause at all.
  if (staged === undefined || remedyFor(plain) === undefined) return remedyFor(plain);
  const opening = openConfined(staged.snapshot);
  if (opening.type === 'failed') return remedyFor(plain);
  const { directory } = opening;
  try {
    const imported: ImportedModules =
      action.type === 'run_script' ? importedModules(directory, scriptPath(action)) : { python: [], node: [] };
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
function moduleCommand(action: ProgramAction, staged: StagedSkill | undefined): { readonly asModule?: string } {
  if (action.type !== 'run_script' || staged === undefined || !action.script.endsWith('.py')) return {};
  const module = scriptPath(action)
    .replace(/(?:\/__init__)?\.py$/, '')
    .replaceAll('/', '.');
  const line = typedWord(`python3 -m ${module}`);
  return { asModule: `skillwright exec ${typedWord(staged.name)} --command ${line}` };
}
