import type { Action } from '../core/action.ts';

/** The actions on files of the project and on the network. */
export type HostAction = Extract<
  Action,
  { readonly type: 'read_file' | 'list_dir' | 'grep' | 'write_file' | 'delete_file' | 'network_request' }
>;

export function isHostAction(action: Action): action is HostAction {
  return HOST_ACTIONS.has(action.type);
}

const HOST_ACTIONS: ReadonlySet<Action['type']> = new Set([
  'read_file',
  'list_dir',
  'grep',
  'write_file',
  'delete_file',
  'network_request',
]);
