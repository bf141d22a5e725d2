/**
 * The public names of project.
 */

export type { PlannedEdit } from './edit-file.ts';
export { grep } from './grep.ts';
export { openLinkedNames } from './linked-names.ts';
export { listDirectory } from './list-directory.ts';
export { networkRequest } from './network/network-request.ts';
export { readFile, readResolved } from './read-file.ts';
export { resolvePath } from './resolve-path.ts';
export { deleteFile, keepReplaced } from './trash.ts';
export { previewWrite, writeFile } from './write-file.ts';
