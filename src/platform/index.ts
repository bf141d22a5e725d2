/**
 * The public names of platform.
 */

export { builtFile } from './built-file.ts';
export { LONGEST_TIMER_MS, monotonicMs, timerMs } from './clock.ts';
export {
  PendingFile,
  createFileAtomically,
  removeStaleTemporaries,
  replaceText,
  temporaryName,
  temporaryPrefix,
  writeAll,
  writeFileAtomically,
  writeNamedFile,
} from './fs/atomic-replace.ts';
export { openSealedFile, type SealedFile } from './fs/authenticated-store.ts';
export { cacheDirectory } from './fs/cache-directory.ts';
export { readCacheEntry, writeCacheEntry } from './fs/cache-entry.ts';
export { readCheckedJson } from './fs/checked-json.ts';
export {
  ConfinedDirectory,
  inConfined,
  openConfined,
  type ConfinedFile,
  type ConfinedListing,
} from './fs/confined-directory.ts';
export { moveBeneath, removeLeftovers, writeBeneath } from './fs/confined-write.ts';
export { copyTree } from './fs/copy-tree.ts';
export { createTree } from './fs/create-tree.ts';
export {
  DirectoryHandle,
  HAS_DESCRIPTOR_PATHS,
  descriptorPath,
  inDirectory,
  systemFailure,
  tryOpenDirectory,
  type OpenFailed,
} from './fs/directory-handle.ts';
export { fingerprintFiles, isSettled, nextChangeTime, statFile } from './fs/file-stamp.ts';
export { isWithoutHardLinks } from './fs/link-new.ts';
export { ownerName, ownerOfName, ownerState, thisProcess, type LockOwner } from './fs/lock-owner.ts';
export { acquireLock, lockHolder, withFileLock, withFileLockSync } from './fs/lock.ts';
export { makeFolders } from './fs/make-folders.ts';
export {
  isAbsent,
  isDirectory,
  isInside,
  isPresent,
  isSystemError,
  namesIn,
  realPath,
  tryRealPath,
  withForwardSlashes,
} from './fs/paths.ts';
export { readPrivateFile, readTextFile } from './fs/read-file.ts';
export { removeTree } from './fs/remove-tree.ts';
export { resolveBeneath } from './fs/resolve-beneath.ts';
export { isSealOf, readSealKey, sealKey, sealKeyFile, sealKeyProblem, computeSeal, trySealKey } from './fs/seal-key.ts';
export { shownText } from './fs/shown-text.ts';
export {
  digestName,
  digestOfEntries,
  isProgram,
  isTreeDigest,
  openTreeDigests,
  pause,
  readTreeDigest,
  readUsableTree,
  twiceIfChanged,
} from './fs/tree-digest.ts';
export { FileHasher, SMALL_FILE, hashOpened, readPieces, withEntryNow } from './fs/tree-file.ts';
export { TreeFingerprint, fingerprintTree } from './fs/tree-stat.ts';
export {
  REPOSITORY_DATA,
  TREE_LIMITS,
  findTreeRefusal,
  orRefusal,
  refuseLinksOutside,
  walkOpened,
  walkTree,
  type OpenedEntry,
  type TreeEntry,
  type TreeProblem,
  type TreeRefusal,
} from './fs/tree-walk.ts';
export { withoutUnusable } from './fs/usable-tree.ts';
export { readEntries, walk, type WalkProblem, type WalkStep, type WalkedEntry } from './fs/walk.ts';
export { nodeCrypto, openSha256, sha256 } from './hash.ts';
export { openAllowProxy } from './net/allow-proxy.ts';
export { limitConnections } from './net/connection-limit.ts';
export { exchangeOver } from './net/http-exchange.ts';
export type { Refusal } from './net/loopback-admission.ts';
export { LOOPBACK_HEADERS, openLoopbackServer, refuse, respond, type LoopbackOptions } from './net/loopback-server.ts';
export { networkGate, readGrant, type NetworkDecision } from './net/network-gate.ts';
export { connectThrough, proxyFor } from './net/user-proxy.ts';
export { loadOptional } from './optional-package.ts';
export {
  GRACE_MS,
  runChild,
  startChild,
  supervise,
  withinTime,
  type Child,
  type ChildExit,
} from './process/child-process.ts';
export { cpuTimer } from './process/cpu-timer.ts';
export { keepBytes } from './process/inherited-descriptors.ts';
export { NO_OUTPUT, textSink, wholeCharacters } from './process/output-capture.ts';
export { OutputPipes } from './process/output-pipes.ts';
export { readProcFile, readProcess, readProcesses, tryRead } from './process/proc.ts';
export { ProcessTable, RUN_MARK } from './process/process-tree.ts';
export { PROGRAM_FOLDERS, TEMPORARY, interpreterFolders, programEnvironment } from './process/program-environment.ts';
export { quietly, tryStat } from './quietly.ts';
export { fitText, padText, textWidth } from './text-width.ts';
export { isInRange, isRange } from './version-range.ts';
export { isContinuation } from './process/output-capture.ts';
export { OPEN_FLAGS } from './fs/open-flags.ts';
