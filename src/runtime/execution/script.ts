import {
  failure,
  isBelowScripts,
  nearest,
  quoted,
  scriptPath,
  toRelativePath,
  type ActionProblem,
  type StagedSkill,
  type Action,
  type OfType,
} from '#core';
import { scriptCommand } from '#sandbox';
import { inConfined, type ConfinedDirectory } from '#platform';

export type ScriptWords =
  | { readonly type: 'command'; readonly argv: readonly string[]; readonly code: string }
  | { readonly type: 'refused'; readonly failure: ActionProblem };

const HEAD_BYTES = 4096;
/** As much of a script as is searched for what it does. */
const CODE_BYTES = 256 * 1024;
const MAX_SCRIPT_BYTES = 8 * 1024 * 1024;

/** Builds the command line of a script. The script is read from the staged copy that will run. */
export function commandOfScript(
  action: OfType<Action, 'run_script'>,
  { name, snapshot }: StagedSkill,
  root: string,
): ScriptWords {
  // An absolute path inside the workspace means the same file.
  const home = `${root}/skills/${name}/`;
  const asked = action.script.startsWith(home) ? action.script.slice(home.length) : action.script;
  const reading = toRelativePath(scriptPath({ ...action, script: asked }));
  if (reading.type === 'refused') return reading;
  const read = (directory: ConfinedDirectory): ScriptWords => {
    const file = directory.read(reading.path, { maxBytes: MAX_SCRIPT_BYTES, allowHardLinks: true });
    if (file.type === 'failed') return unknownScript(action, listScripts(directory, action));
    const script = {
      path: `${home}${reading.path}`,
      head: file.bytes.subarray(0, HEAD_BYTES),
      isExecutable: file.isExecutable,
      readWhole: () => file.bytes,
    };
    const command = scriptCommand(script, action.args, { nodeVersion: process.versions.node });
    return command.type === 'refused'
      ? command
      : { ...command, code: file.bytes.subarray(0, CODE_BYTES).toString('utf8') };
  };
  return inConfined(snapshot, read, () => unknownScript(action, []));
}

function listScripts(directory: ConfinedDirectory, { anywhere }: OfType<Action, 'run_script'>): readonly string[] {
  const { files } = directory.list({ maxFiles: 2_000, maxDepth: 12 });
  return files.map(({ path }) => path).filter((path) => anywhere === true || isBelowScripts(path));
}

function unknownScript(action: OfType<Action, 'run_script'>, scripts: readonly string[]): ScriptWords {
  const { script } = action;
  const near = nearest(scriptPath(action), scripts, 5);
  return {
    type: 'refused',
    failure: failure('script/unknown', `there is no script ${quoted(script)} in the skill`, {
      nearest: near.length > 0 ? near : scripts.slice(0, 5),
    }),
  };
}
