/**
 * Files of the user's project and network requests as actions. It never asks whether an action is allowed; runtime decides before it calls. Read
 * resolve-path.ts first.
 */

// Where a path leads, and what is there.
export { resolvePath } from './resolve-path.ts';
export { openLinkedNames } from './linked-names.ts';
export { readResolved } from './read-file.ts';
export { gitState } from './git-index.ts';
export { projectText } from './project-text.ts';

// Actions, with a copy of what a change replaces.
export { performHostAction } from './perform-action.ts';
export { previewWrite } from './write-file.ts';
export { deleteFile, keepReplaced } from './trash.ts';
