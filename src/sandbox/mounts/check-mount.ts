/** Decides which folders of the host a program may see, and identifies each by its inode, so that a replaced folder is noticed. */
import { fstatSync, statSync } from 'node:fs';
import path from 'node:path';

import { isSkillError, quoted, SkillError } from '#core';
import { isInside, tryRealPath, DirectoryHandle } from '#platform';
import { filesBelow, identifyFile, type FileIdentity } from './hard-links.ts';
import type { Identity } from '../program-types.ts';

/** A folder that the user wants programs to see. */
export interface MountRequest {
  readonly folder: string;
  readonly access: 'read' | 'write';
  /** The project of the session, which programs find by `PROJECT_DIR`. */
  readonly isProject?: boolean;
  /** Programs run without the folder if it must not be mounted; otherwise the session fails. */
  readonly isOptional?: boolean;
}

/** A folder that programs may see. */
export interface CheckedMount {
  /** Absolute path with links resolved. */
  readonly source: string;
  readonly access: 'read' | 'write';
  readonly isProject: boolean;
  /** `device:inode` of the folder. */
  readonly inode: string;
  /** Key files of the user, which could have another name in the folder. */
  readonly keys: readonly FileIdentity[];
}

export interface MountRules {
  readonly home: string | undefined;
  /** Folders of records, trust, approvals, caches and workspaces. */
  readonly stateFolders: readonly string[];
  /** Real paths of folders of records, which may be in a mounted folder, where they are hidden. */
  readonly records?: readonly string[];
  readonly skillRoots: readonly string[];
  /** The user that programs run as, if it is not the current one. */
  readonly identity: Identity | undefined;
  /** Whether that user must be able to reach the folder by its path; false if an engine mounts it. */
  readonly needsPath: boolean;
  /** Called for an optional folder that is not mounted. */
  readonly onSkipped?: ((reason: SkillError) => void) | undefined;
}

/** Parts of the system that hold settings, devices and sockets. */
const SYSTEM_FOLDERS = ['/boot', '/dev', '/etc', '/proc', '/run', '/sys', '/var/run', '/var/lib/docker'];
/** Refused as a whole, because they contain everything; folders below them are fine. */
const WIDE_FOLDERS: ReadonlySet<string> = new Set(
  '/ /home /usr /var /opt /srv /mnt /media /tmp /Users /private'.split(' '),
);
/** Folders with keys and credentials, wherever they are. */
const SECRET_FOLDERS = new Set(
  '.ssh .gnupg .aws .azure .kube .docker .password-store .mozilla .thunderbird .gcloud .terraform.d Keychains'.split(
    ' ',
  ),
);
/** Folders with credentials inside a folder of settings. */
const SECRET_SETTINGS = new Set('gcloud gh git google-chrome chromium op 1Password rclone containers'.split(' '));

/** Files in the home folder itself that hold credentials. */
const SECRET_FILES = '.netrc .npmrc .pypirc .git-credentials .pgpass .my.cnf .vault-token .env'.split(' ');
/** Programs keep caches beside keys; that many files are searched in each folder. */
const MAX_KEYS = 1_000;

function findKeys(home: string | undefined): readonly FileIdentity[] {
  if (home === undefined) return [];
  const folders = [...SECRET_FOLDERS, ...[...SECRET_SETTINGS].map((name) => `.config/${name}`)];
  const files = folders.flatMap((folder) => {
    const found: string[] = [];
    for (const file of filesBelow(path.join(home, folder))) if (found.push(`${folder}/${file}`) >= MAX_KEYS) break;
    return found;
  });
  return [...SECRET_FILES, ...files].flatMap((file) => identifyFile(path.join(home, file)) ?? []);
}

/** Throws `policy/refused` for a folder that programs must not see. */
function checkMount(request: MountRequest, rules: MountRules): CheckedMount {
  const { folder, access, isProject = false } = request;
  const source = tryRealPath(path.resolve(folder));
  if (source === undefined) throw invalid(folder, 'it does not exist', 'pass the path of a folder');
  const opened = DirectoryHandle.tryOpen(source);
  if (opened.type !== 'directory') throw invalid(folder, 'it is not a folder', 'pass a folder, or the file with --in');
  try {
    const problem = placeProblem(source, rules) ?? accessProblem(source, access, rules);
    if (problem !== undefined) throw refused(folder, problem.reason, problem.hint);
    const { dev, ino } = fstatSync(opened.directory.descriptor, { bigint: true });
    return { source, access, isProject, inode: `${String(dev)}:${String(ino)}`, keys: findKeys(rules.home) };
  } finally {
    opened.directory.close();
  }
}

/** Checks all folders. An outer folder comes before the folders in it, because later mounts cover earlier ones. */
export function checkMounts(requests: readonly MountRequest[], rules: MountRules): readonly CheckedMount[] {
  const checked = requests.flatMap((request) => {
    try {
      return [checkMount(request, rules)];
    } catch (error) {
      if (request.isOptional !== true || !isSkillError(error)) throw error;
      rules.onSkipped?.(error);
      return [];
    }
  });
  // The last request for a folder counts.
  const last = new Map(checked.map((mount) => [mount.source, mount]));
  return [...last.values()].toSorted((a, b) => a.source.length - b.source.length);
}

interface Problem {
  readonly reason: string;
  readonly hint: string;
}

const SMALLER = 'mount the folder of one project';

function placeProblem(
  source: string,
  { home, stateFolders, records = [], skillRoots }: MountRules,
): Problem | undefined {
  if (WIDE_FOLDERS.has(source)) return { reason: 'it contains unrelated files of the system', hint: SMALLER };
  const system = SYSTEM_FOLDERS.find((folder) => isInside(source, folder));
  if (system !== undefined) return { reason: `${system} belongs to the system`, hint: SMALLER };
  const parts = source.split(path.sep);
  const secret = parts.find((name, at) =>
    parts[at - 1] === '.config' ? SECRET_SETTINGS.has(name) : SECRET_FOLDERS.has(name),
  );
  if (secret !== undefined) return { reason: `${secret} holds keys or credentials`, hint: SMALLER };
  const realHome = home === undefined ? undefined : (tryRealPath(home) ?? home);
  if (realHome !== undefined && isInside(realHome, source))
    return { reason: 'it contains your home folder with its keys', hint: SMALLER };
  for (const folder of stateFolders.map((each) => tryRealPath(each) ?? each)) {
    if (isInside(source, folder)) return { reason: 'it belongs to the state of skillwright', hint: SMALLER };
    if (isInside(folder, source))
      return { reason: `it contains ${quoted(folder)}, where skillwright keeps its state`, hint: SMALLER };
  }
  if (records.some((folder) => isInside(source, folder)))
    return { reason: 'it belongs to the records of skillwright', hint: SMALLER };
  const root = skillRoots.map((each) => tryRealPath(each) ?? each).find((each) => isInside(source, each));
  if (root !== undefined)
    return {
      reason: `it is in the skill folder ${quoted(root)}`,
      hint: 'copy it elsewhere, or mount the project around it',
    };
  return undefined;
}

function accessProblem(source: string, access: 'read' | 'write', rules: MountRules): Problem | undefined {
  const { identity, needsPath } = rules;
  if (identity === undefined) return undefined;
  const user = String(identity.uid);
  const hint = 'run skillwright as the owner of the folder instead of root';
  const above = needsPath ? listParents(source).find((folder) => !mayUse(folder, identity, 0o1)) : undefined;
  if (above !== undefined)
    return { reason: `programs run as user ${user} under root, who cannot enter ${quoted(above)}`, hint };
  if (!mayUse(source, identity, 0o5))
    return { reason: `programs run as user ${user} under root, who cannot read it`, hint };
  if (access === 'write' && !mayUse(source, identity, 0o2))
    return { reason: `programs run as user ${user} under root, who cannot write it`, hint };
  return undefined;
}

function listParents(folder: string): readonly string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [] : [...listParents(parent), parent];
}

/** `bits` as in one digit of a mode: 4 to list, 2 to write, 1 to enter. */
function mayUse(folder: string, { uid, gid }: Identity, bits: number): boolean {
  const stats = statSync(folder);
  const shift = stats.uid === uid ? 6 : stats.gid === gid ? 3 : 0;
  return ((stats.mode >> shift) & bits) === bits;
}

function invalid(folder: string, reason: string, hint: string): SkillError<'input/invalid'> {
  const message = `the folder ${quoted(folder, 200)} cannot be mounted: ${reason}`;
  return new SkillError({ code: 'input/invalid', message, hint, data: { expected: 'a folder' } });
}

function refused(folder: string, reason: string, hint: string): SkillError<'policy/refused'> {
  const message = `the folder ${quoted(folder, 200)} cannot be mounted: ${reason}`;
  return new SkillError({ code: 'policy/refused', message, hint, data: { rule: 'mount', approval: '', command: '' } });
}
