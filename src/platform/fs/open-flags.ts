/**
 * How files are opened that others may have put there. Where a system lacks a flag its constant is undefined, which counts as 0 here;
 * Node itself adds CLOEXEC.
 */
import { constants } from 'node:fs';

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** A file that a person named, links included. A pipe without a writer must not hold us, and a terminal must not become ours. */
export const NAMED_FILE = O_RDONLY | O_NONBLOCK | O_NOCTTY;
/** A file of somebody else: a link at its end is not followed. */
export const FOREIGN_FILE = NAMED_FILE | O_NOFOLLOW;
export const NAMED_FOLDER = O_RDONLY | O_DIRECTORY;
export const FOREIGN_FOLDER = NAMED_FOLDER | O_NOFOLLOW;
/** Where anything stands already, a broken link too, opening fails. */
export const NEW_FILE = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
export const NEW_GROWING_FILE = NEW_FILE | O_APPEND;
