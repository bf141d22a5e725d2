import {
  failure,
  quoted,
  replaceFolder,
  scriptPath,
  toRelativePath,
  type ActionProblem,
  type Action,
  type OfType,
  type ProgramAction,
  isProblem,
} from '#core';
import { inConfined, type ConfinedDirectory } from '#platform';
import { scriptCommand, shellCommand } from './interpreter.ts';
import type { StagedSkill } from '../program-types.ts';

/** `code` is the script or the command line, to tell what it may do. */
type ProgramCommand =
  | { readonly type: 'command'; readonly argv: readonly string[]; readonly code: string }
  | { readonly type: 'refused'; readonly failure: ActionProblem };

type RunScript = OfType<Action, 'run_script'>;

/** As much of a script as is searched for what it does. */
const CODE_BYTES = 256 * 1024;
const MAX_SCRIPT_BYTES = 8 * 1024 * 1024;

/** Builds the command of a program. A script is read from the staged copy that will run; paths of the skill's folder lead to that copy. */
export function programCommand(
  action: ProgramAction,
  staged: StagedSkill | undefined,
  { root, skillFolder }: { readonly root: string; readonly skillFolder: string | undefined },
): ProgramCommand {
  if (action.type !== 'run_script') {
    const isStaged = staged !== undefined && skillFolder !== undefined;
    const code = isStaged
      ? replaceFolder(action.command, skillFolder, `${root}/skills/${staged.name}`)
      : action.command;
    return { type: 'command', argv: shellCommand(code), code };
  }
  return staged === undefined ? { type: 'command', argv: [], code: '' } : commandForScript(action, staged, root);
}

function commandForScript(action: RunScript, { name, snapshot }: StagedSkill, root: string): ProgramCommand {
  // An absolute path inside the workspace means the same file.
  const home = `${root}/skills/${name}/`;
  const asked = action.script.startsWith(home) ? action.script.slice(home.length) : action.script;
  const reading = toRelativePath(scriptPath({ ...action, script: asked }));
  if (isProblem(reading)) return { type: 'refused', failure: reading };
  const read = (directory: ConfinedDirectory): ProgramCommand => {
    const file = directory.read(reading, { maxBytes: MAX_SCRIPT_BYTES, allowHardLinks: true });
    if (file.type === 'failed') return unknownScript(action);
    const { bytes, isExecutable } = file;
    const command = scriptCommand({ path: `${home}${reading}`, bytes, isExecutable }, action.args);
    return command.type === 'refused' ? command : { ...command, code: bytes.subarray(0, CODE_BYTES).toString('utf8') };
  };
  return inConfined(snapshot, read, () => unknownScript(action));
}

/** A script that never existed was reported before, with the nearest names. */
function unknownScript({ script }: RunScript): ProgramCommand {
  const message = `the script ${quoted(script)} cannot be read in the skill`;
  return { type: 'refused', failure: failure('script/unknown', message) };
}
