/**
 * Files of the user's project and network requests as actions. It never asks whether an action is allowed; runtime decides before it calls. Read
 * resolve-path.ts first.
 */

// Where a path leads.
export { resolvePath } from './resolve-path.ts';
export { openLinkedNames } from './linked-names.ts';

// Reading.
export { readFile, readResolved } from './read-file.ts';
export { listDirectory } from './list-directory.ts';
export { grep } from './grep.ts';

// Changing, with a copy of what was there.
export { previewWrite, writeFile } from './write-file.ts';
export type { PlannedEdit } from './edit-file.ts';
export { deleteFile, keepReplaced } from './trash.ts';

// Requests.
export { networkRequest } from './network/network-request.ts';
