/**
 * Flags for opening files that other users or skills may have created. On systems without a flag its constant is undefined, which
 * counts as 0 here. Node adds O_CLOEXEC itself.
 */
import { constants } from 'node:fs';

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } =
  constants;

/** For a file that the user named: links are followed. Does not block on a pipe without a writer, and adopts no terminal. */
export const NAMED_FILE = O_RDONLY | O_NONBLOCK | O_NOCTTY;
/** For a file that another user or a skill may have created: a link at the end of the path is not followed. */
export const FOREIGN_FILE = NAMED_FILE | O_NOFOLLOW;
export const NAMED_FOLDER = O_RDONLY | O_DIRECTORY;
export const FOREIGN_FOLDER = NAMED_FOLDER | O_NOFOLLOW;
/** Fails if anything exists at the path, a broken link included. */
const NEW_FILE = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
/** Linux's O_PATH, which Node does not name: opens a directory without read permission. */
export const UNREADABLE_FOLDER = 0o10000000 | FOREIGN_FOLDER;

/** What other parts open files with. */
export const OPEN_FLAGS = {
  namedFile: NAMED_FILE,
  foreignFile: FOREIGN_FILE,
  newFile: NEW_FILE,
  /** For a folder that another program may have closed: on Linux it is opened without the right to read it. */
  heldFolder: process.platform === 'linux' ? UNREADABLE_FOLDER : FOREIGN_FOLDER,
  /** For a file that is only appended to. */
  newGrowingFile: NEW_FILE | O_APPEND,
  /** For a file of our own that several processes append to. */
  growingFile: O_RDWR | O_CREAT | O_NOFOLLOW | O_APPEND | O_NONBLOCK,
  /** For overwriting a small file of our own in its place. */
  ownFile: O_RDWR | O_NOFOLLOW | O_NONBLOCK,
} as const;
