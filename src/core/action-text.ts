import type { Action } from './action.ts';
import type { ActionFailed, Observation } from './observation.ts';
import type { RunResult } from './outputs.ts';
import type { LimitReport } from './execution.ts';
import { countText, shownText } from './text/line-text.ts';
import { printable } from './text/text.ts';
import { diffLines } from './text/text-diff.ts';

const SHOWN_ARGUMENTS = 4;
const MOST_REASON = 300;

/** Describes an action on one short line, with the name of its tool in the vocabulary. Contents are counted, not shown. */
export function describeAction(action: Action, tool: string = action.type): string {
  return [tool === action.type ? tool : shownText(tool), ...describeSubject(action)].join(' ');
}

function describeSubject(action: Action): readonly string[] {
  switch (action.type) {
    case 'search_skills':
      return action.query === '' ? [] : [shownText(action.query)];
    case 'load_skill':
    case 'list_resources':
      return [shownText(action.skill)];
    case 'read_resource':
      return [shownText(action.skill), shownText(action.path)];
    case 'select_documents':
      return [shownText(action.skill), action.mode];
    case 'get_script_path':
      return [shownText(action.skill), shownText(action.script)];
    case 'install_packages':
      return [...(action.skill === undefined ? [] : [shownText(action.skill)]), ...argumentsText(action.packages)];
    case 'run_script':
      return [
        shownText(action.skill),
        shownText(action.script),
        ...argumentsText(action.args),
        ...packagesText(action),
      ];
    case 'run_command':
    case 'start_command':
      return [shownText(action.command), ...packagesText(action)];
    case 'write_input':
      return [shownText(action.session), countText(action.chars.length, 'character')];
    case 'poll_command':
    case 'kill_command':
      return [shownText(action.session)];
    case 'read_file':
    case 'list_dir':
    case 'delete_file':
      return [shownText(action.path)];
    case 'grep':
      return [shownText(action.pattern), shownText(action.path)];
    case 'write_file':
      return [shownText(action.path), countText(action.content.length, 'character')];
    case 'edit_file':
      return [shownText(action.path), changeText(action)];
    case 'network_request':
      return [shownText(action.method ?? 'GET'), shownText(action.url)];
    case 'call_mcp_tool':
      return [shownText(action.name), shownText(JSON.stringify(action.input))];
    case 'final_answer':
      return [];
  }
}

function changeText({ oldText, newText }: Extract<Action, { readonly type: 'edit_file' }>): string {
  const { added, removed } = diffLines(oldText, newText);
  return `+${String(added)} -${String(removed)}`;
}

function packagesText({ packages = [] }: { readonly packages?: readonly string[] }): readonly string[] {
  return packages.length === 0 ? [] : ['with', ...argumentsText(packages)];
}

function argumentsText(args: readonly string[]): readonly string[] {
  const shown = args.slice(0, SHOWN_ARGUMENTS).map((arg) => shownText(arg, 30));
  return args.length > SHOWN_ARGUMENTS ? [...shown, `and ${String(args.length - SHOWN_ARGUMENTS)} more`] : shown;
}

/**
 * Summarizes an observation in a few words; with sizes if `isFull`. The tone is `warning` if the action succeeded but its result is a failure:
 * a program with a non-zero exit code, or an HTTP error.
 */
export function describeOutcome(
  observation: Observation,
  isFull: boolean,
): { readonly text: string; readonly tone: 'good' | 'warning' | 'bad' } {
  const tone = observation.type === 'failed' ? 'bad' : isPoorOutcome(observation) ? 'warning' : 'good';
  return { text: outcomeText(observation, isFull), tone };
}

function outcomeText(observation: Observation, isFull: boolean): string {
  switch (observation.type) {
    case 'skills-found':
      return observation.query === '' ? 'done' : `found ${countText(observation.results.length, 'skill')}`;
    case 'skill-loaded': {
      const { status, report, files } = observation;
      return `${status}, ${countText(report.characters, 'character')}${cut(report.truncated)}${full(isFull, countText(files.length, 'file'))}`;
    }
    case 'resources-listed':
      return `${countText(observation.files.length, 'file')} in the skill${cut(observation.filesCut)}`;
    case 'resource-read':
    case 'file-read':
      return readText(observation, isFull);
    case 'documents-selected':
      return `${countText(observation.documents.length, 'document')} shown`;
    case 'script-found':
      return 'found';
    case 'packages-installed':
      return `${countText(observation.layer.packages.length, 'package')}${observation.isCached ? ', installed before' : ''}`;
    case 'program-ran':
      return resultText(observation.result, isFull);
    case 'command-seen':
      if (observation.result !== undefined) return resultText(observation.result, isFull);
      return observation.question === undefined ? observation.status : `${observation.status}, waiting for input`;
    case 'command-killed':
      return [observation.status, ...(observation.warnings ?? [])].join('; ');
    case 'directory-listed':
      return `${countText(observation.entries.length, 'entry', 'entries')}${cut(observation.isCut)}`;
    case 'lines-found': {
      const { matches, files, isCut } = observation;
      return `${countText(matches.length, 'match', 'matches')} in ${countText(files, 'file')}${cut(isCut)}`;
    }
    case 'file-written':
      return `${countText(observation.bytes, 'byte')}, ${observation.replaced === undefined ? 'new' : 'replaced'}`;
    case 'file-deleted':
      return 'moved to the trash';
    case 'response-received':
      return `status ${String(observation.status)}, ${countText(observation.bytes, 'byte')}${cut(observation.truncated)}`;
    case 'tool-called':
      return `${observation.isError ? 'the tool reports an error, ' : ''}${countText(observation.text.length, 'character')}${cut(observation.truncated)}`;
    case 'answered':
      return countText(observation.answer.length, 'character');
    case 'failed':
      return failedText(observation);
  }
}

/** What the user did reads as such, not as an error of the action. */
function failedText({ code, action, message }: ActionFailed): string {
  if (code !== 'approval/refused' && code !== 'run/interrupted')
    return `failed, ${code}: ${shownText(message, MOST_REASON)}`;
  const text =
    message === interruptedText(action)
      ? 'interrupted'
      : message
          .replace(`a person refused ${action}`, 'denied by you')
          .replace(action, 'it')
          .replace(/^a person refused /, 'denied by you: ');
  return printable(text.slice(0, MOST_REASON));
}

/** The message of an action that a signal ended. */
export function interruptedText(action: Action['type']): string {
  return `${action} was interrupted`;
}

function isPoorOutcome(observation: Observation): boolean {
  if (observation.type === 'response-received') return observation.status >= 400;
  if (observation.type === 'tool-called') return observation.isError;
  const result =
    observation.type === 'program-ran' || observation.type === 'command-seen' ? observation.result : undefined;
  return result !== undefined && (result.reason !== 'exited' || result.exit_code !== 0);
}

function readText(
  observation: Observation & { readonly type: 'resource-read' | 'file-read' },
  isFull: boolean,
): string {
  const { isBinary, mediaType, lines, totalLines } = observation;
  const { bytes, truncated } = observation.type === 'file-read' ? observation : observation.report;
  const size = full(isFull, countText(bytes, 'byte'));
  if (isBinary) return `binary, ${shownText(mediaType)}${size}`;
  return `lines ${String(lines.from)}-${String(lines.to)} of ${String(totalLines)}${cut(truncated)}${size}`;
}

function resultText(result: RunResult, isFull: boolean): string {
  const end =
    result.reason === 'exited'
      ? `exit ${String(result.exit_code)}`
      : result.reason === 'cancelled'
        ? 'interrupted'
        : `ended by ${result.reason}`;
  const printed = countText(result.stdout.length + result.stderr.length, 'character');
  const sizes = full(
    isFull,
    `${printed} printed, ${countText(result.output_files.length, 'file')}, ${result.executor}`,
  );
  return `${end}${result.isolation === 'none' ? ', not isolated' : ''}${sizes}`;
}

export const LIMIT_LABELS: Readonly<Record<keyof LimitReport, string>> = {
  wallMs: 'time',
  memoryBytes: 'memory',
  processes: 'processes',
  outputBytes: 'output',
  fileBytes: 'file size',
  diskBytes: 'disk',
  files: 'files',
  temporaryBytes: '/tmp',
};

/** `limits enforced by cgroup (memory), rlimit (processes, file size), ...`. */
export function limitText(limits: LimitReport = {}): string {
  const by = new Map<string, string[]>();
  for (const [name, label] of Object.entries(LIMIT_LABELS)) {
    const enforcedBy = Object.entries(limits).find(([key]) => key === name)?.[1].enforcedBy;
    if (enforcedBy !== undefined) by.set(enforcedBy, [...(by.get(enforcedBy) ?? []), label]);
  }
  return by.size === 0
    ? ''
    : `limits enforced by ${[...by].map(([how, names]) => `${how} (${names.join(', ')})`).join(', ')}`;
}

function cut(isCut: boolean): string {
  return isCut ? ', cut' : '';
}

function full(isFull: boolean, text: string): string {
  return isFull ? `, ${text}` : '';
}
