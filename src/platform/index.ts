/**
 * The public names of platform.
 */

export { builtFile } from './built-file.ts';
export { LONGEST_TIMER_MS, monotonicMs, timerMs } from './clock.ts';
export {
  PendingFile,
  createFileAtomically,
  openNewFile,
  removeStaleTemporaries,
  replaceText,
  temporaryName,
  temporaryPrefix,
  writeAll,
  writeFileAtomically,
  writeFilesAtomically,
  writeNamedFile,
  writeNewFile,
  writePendingFiles,
  type FileContent,
  type FileWriter,
  type PendingFiles,
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
export { createTree, type TreeFile } from './fs/create-tree.ts';
export {
  DirectoryHandle,
  HAS_DESCRIPTOR_PATHS,
  descriptorPath,
  inDirectory,
  systemFailure,
  tryOpenDirectory,
  type Confinement,
  type OpenFailed,
} from './fs/directory-handle.ts';
export { fingerprintFiles, isSettled, nextChangeTime, statFile, type FileStamp } from './fs/file-stamp.ts';
export { findFilesNamed } from './fs/find-files.ts';
export { isWithoutHardLinks } from './fs/link-new.ts';
export { allNames, directoryStatus, listDirectory, findSpelling, type DirectoryIdentity } from './fs/list-directory.ts';
export {
  OWNER_FILE,
  ownerName,
  ownerOfName,
  ownerState,
  readFolderOwner,
  thisProcess,
  writeFolderOwner,
  type LockOwner,
} from './fs/lock-owner.ts';
export { keepsModes } from './fs/keeps-modes.ts';
export { acquireLock, lockHolder, withFileLock, withFileLockSync } from './fs/lock.ts';
export { makeFolders, tryMakeFolders } from './fs/make-folders.ts';
export { FOREIGN_FILE, GROWING_FILE, NAMED_FILE, NEW_FILE, NEW_GROWING_FILE, OWN_FILE } from './fs/open-flags.ts';
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
export { readPrivateFile, readTextFile, type TextRead } from './fs/read-file.ts';
export { allowReading, removeTree } from './fs/remove-tree.ts';
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
  type DigestEntry,
  type TreeDigests,
} from './fs/tree-digest.ts';
export { FileHasher, SMALL_FILE, hashOpened, readPieces, withEntryNow } from './fs/tree-file.ts';
export { TreeFingerprint, fingerprintTree } from './fs/tree-stat.ts';
export {
  REPOSITORY_DATA,
  TREE_LIMITS,
  TreeRefused,
  orRefusal,
  refuseLinksOutside,
  walkOpened,
  walkTree,
  type OpenedEntry,
  type TreeEntry,
  type TreeLimits,
  type TreeProblem,
  type TreeRefusal,
  type WalkOptions,
} from './fs/tree-walk.ts';
export { withoutUnusable } from './fs/usable-tree.ts';
export { readEntries, walk, type WalkProblem, type WalkStep, type WalkedEntry } from './fs/walk.ts';
export { watchDirectory, type DirectoryWatch } from './fs/watch-directory.ts';
export { checksum, nodeCrypto, openSha256, openTextHash, sha256, type TextHash } from './hash.ts';
export { openAllowProxy, type ProxyLimits } from './net/allow-proxy.ts';
export { limitConnections } from './net/connection-limit.ts';
export { exchangeOver, type HttpTarget } from './net/http-exchange.ts';
export { HttpSocket, type HttpAnswer, type HttpCall, type HttpEndpoint, type HttpFailure } from './net/http-socket.ts';
export type { Refusal } from './net/loopback-admission.ts';
export {
  LOOPBACK_HEADERS,
  openLoopbackServer,
  refuse,
  respond,
  type LoopbackOptions,
  type LoopbackServer,
} from './net/loopback-server.ts';
export {
  isRefused,
  networkGate,
  readGrant,
  type NetworkDecision,
  type NetworkGate,
  type ResolveHost,
} from './net/network-gate.ts';
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
  type ChildSpec,
  type Supervision,
} from './process/child-process.ts';
export { cpuTimer } from './process/cpu-timer.ts';
export { keepBytes, type Inherited, type KeptBytes } from './process/inherited-descriptors.ts';
export {
  NO_OUTPUT,
  openCapture,
  textSink,
  wholeCharacters,
  type Capture,
  type Captured,
} from './process/output-capture.ts';
export { OutputPipes } from './process/output-pipes.ts';
export { readProcFile, readProcess, readProcesses, tryRead, type ProcessRow } from './process/proc.ts';
export { measureMemory } from './process/process-memory.ts';
export { ProcessTable, RUN_MARK } from './process/process-tree.ts';
export { PROGRAM_FOLDERS, TEMPORARY, interpreterFolders, programEnvironment } from './process/program-environment.ts';
export { quietly, tryStat } from './quietly.ts';
export { fitText, padText, textWidth } from './text-width.ts';
export { compareVersions, isInRange, isRange } from './version-range.ts';
