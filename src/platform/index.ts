/**
 * Node behind small functions: files and the network. It never decides what is allowed; callers pass limits and grants. Read fs/directory-handle.ts first:
 * strangers' trees are reached through handles, never by name alone.
 */

// Paths, and files that the user or this program owns.
export {
  findLink,
  isDirectory,
  isInside,
  isPresent,
  namesIn,
  realEntry,
  realPath,
  resolveWithHome,
  tryRealPath,
  withForwardSlashes,
  findProgram,
} from './fs/paths.ts';
export { OPEN_FLAGS } from './fs/open-flags.ts';
export { readPrivateFile, readTextFile } from './fs/read-file.ts';
export { readCheckedJson } from './fs/checked-json.ts';
export { shownText } from './fs/shown-text.ts';
export { makeFolders } from './fs/make-folders.ts';
export { fingerprintFiles, isSettled } from './fs/file-stamp.ts';

// Writing: whole files or none.
export {
  PendingFile,
  temporaryName,
  temporaryPrefix,
  writeAll,
  writeFileAtomically,
  writeTextFile,
} from './fs/atomic-replace.ts';
export { createTree } from './fs/create-tree.ts';
export { isWithoutHardLinks } from './fs/link-new.ts';
export { cacheDirectory } from './fs/cache-directory.ts';
export { cacheEntry } from './fs/cache-entry.ts';

// Locks, owners and sealed state.
export { acquireLock, lockHolder, withFileLock, withFileLockSync } from './fs/lock.ts';
export { ownerName, ownerOfName, ownerState, thisProcess, type LockOwner } from './fs/lock-owner.ts';
export { checkSealKey, openSeals, readSealKey } from './fs/seal-key.ts';
export { openSealedFile } from './fs/authenticated-store.ts';

// Untrusted folders.
export { DirectoryHandle, descriptorPath, inDirectory, type OpenFailed } from './fs/directory-handle.ts';
export { ConfinedDirectory, inConfined, openConfined } from './fs/confined-directory.ts';
export { moveBeneath, removeLeftovers, writeBeneath } from './fs/confined-write.ts';
export { resolveBeneath } from './fs/resolve-beneath.ts';

// Whole trees: walked, hashed, copied, removed.
export { listBeneath, walk } from './fs/walk.ts';
export { findTreeRefusal, orRefusal, refuseLinksOutside } from './fs/tree-walk.ts';
export { FileHasher, readPieces, walkOpened, type TreeEntry } from './fs/tree-file.ts';
export { TreeFingerprint } from './fs/tree-stat.ts';
export { digestName, digestOfEntries, isProgram, openTreeDigests, pause, readTreeDigest } from './fs/tree-digest.ts';
export { copyTree, copyUsableTree } from './fs/copy-tree.ts';
export { allowReading, removeTree } from './fs/remove-tree.ts';

// The network: one gate for outgoing connections, one server on the loopback.
export { networkGate, readGrant } from './net/network-gate.ts';
export { httpTarget, requestGuarded } from './net/guarded-http.ts';
export { proxyFor } from './net/user-proxy.ts';
export { proxiedFetch } from './net/proxied-fetch.ts';
export { openAllowProxy } from './net/allow-proxy.ts';
export { LOOPBACK_HEADERS, acceptRequests, openLoopbackServer, respond } from './net/loopback-server.ts';

// Hashes, clocks, packages and columns.
export { sha256 } from './hash.ts';
export { monotonicMs, timerMs } from './clock.ts';
export { quietly, isSystemError } from './system-error.ts';
export { loadOptional } from './optional-package.ts';
export { parseToml } from './parse-toml.ts';
export { packageFile } from './package-file.ts';
export { readRange } from './version-range.ts';
export { fitText, padText, textWidth } from './text-width.ts';
