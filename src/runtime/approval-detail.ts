import type { Action } from '../core/action.ts';
import type { ApprovalDetail } from '../core/approval.ts';
import { readCommandLine } from '../policy/command/command-line.ts';
import { programsOf } from '../policy/command/command-pattern.ts';
import type { PlacedAction } from './host-files.ts';

/** What a person is shown of an action: what would be done, not what somebody says about it. */
export function detailOf(action: Action, placed: PlacedAction | undefined): ApprovalDetail {
  switch (action.type) {
    case 'run_command':
    case 'start_command':
      return { kind: 'command', command: action.command, programs: programsOf(readCommandLine(action.command)) };
    case 'run_script':
      return { kind: 'script', script: action.script, args: action.args };
    case 'write_file':
      return {
        kind: 'write',
        path: placed?.place?.shown ?? action.path,
        before: placed?.before?.(),
        after: action.content,
      };
    case 'delete_file':
      return { kind: 'delete', path: placed?.place?.shown ?? action.path, bytes: placed?.bytes?.() ?? 0 };
    case 'network_request':
      return { kind: 'request', method: action.method ?? 'GET', url: action.url, body: action.body ?? '' };
    default:
      return { kind: 'other', summary: JSON.stringify(action) };
  }
}
