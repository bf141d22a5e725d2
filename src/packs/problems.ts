/**
 * Every reason to refuse a pack, a source or a change of a root, with a hint. Codes are public and never change their meaning. A refusal
 * means that nothing was written.
 */
import { isSkillError, problemError, quoted, toProblem, type Problem, type SkillError } from '#core';
import { isSystemError, type findTreeRefusal } from '#platform';

export type TreeRefusal = NonNullable<ReturnType<typeof findTreeRefusal>>;

/** Every code of a refused install, pack or update with its advice. */
export const PACK_PROBLEMS = {
  'archive/unreadable': 'the file is damaged or not an archive: download it again, or ask its author',
  'archive/format': 'use a .zip, .skill, .tar.gz or .tgz file',
  'archive/traversal': 'the archive tries to write outside of its folder: do not use it',
  'archive/absolute': 'paths in an archive must be relative: pack it again',
  'archive/backslash': 'paths in an archive must use /: pack it again',
  'archive/name':
    'a name in the archive is empty, invisible, too long or not portable: rename the file and pack it again',
  'archive/reserved-name': 'a name in the archive is reserved on Windows: rename the file and pack it again',
  'archive/link': 'links are not installed: add the file itself to the archive',
  'archive/special-file': 'an archive of skills may contain only files and folders',
  'archive/mode': 'setuid, setgid and sticky bits are not installed: remove them and pack it again',
  'archive/duplicate': 'two entries have the same path: pack it again with each file once',
  'archive/collision': 'two names are the same file on some systems: rename one',
  'archive/conflict': 'one name is both a file and a folder: pack it again',
  'archive/overlap': 'entries share bytes, as in zip bombs: do not use it',
  'archive/bomb': 'it unpacks to far more than its size: do not use it, or raise the install.archive limits',
  'archive/too-large': 'make the pack smaller, or raise the install.archive limits',
  'archive/too-many': 'pack fewer files, or raise the install.archive limits',
  'archive/too-deep': 'pack it with fewer nested folders',
  'archive/encrypted': 'encrypted archives cannot be inspected: ask for one without a password',
  'archive/method': 'only stored and deflated entries are supported: pack it again as a plain zip',
  'archive/mismatch': 'its headers contradict each other, so programs read it differently: do not use it',
  'archive/checksum': 'the archive is damaged: download it again',
  'archive/extra-data':
    'it has data before, after or between its entries, so programs read it differently: pack it again',
  'archive/zip64': 'its 64-bit sizes are invalid: do not use it',
  'source/unknown':
    'use a folder, an archive, a URL, a git repository, npm:NAME, or a site that publishes an index of skills',
  'source/missing': 'check the path or the address',
  'source/refused': 'the server or the rules of this machine do not allow it',
  'source/failed': 'see the reason, then try again',
  'source/not-offline': 'this source needs the network: run the command without --offline',
  'source/digest': 'the bytes do not match the expected digest: the source was changed, or the index is outdated',
  'source/revision': 'use a branch, tag or commit that exists',
  'source/changed': 'it changed during the inspection: try again',
  'pack/plugin': 'correct what the message names, such as plugin.json, or use the folder of a single skill',
  'source/marketplace': 'ask the owner of the marketplace to correct it, or install the plugin from its own source',
  'pack/no-skill': 'a pack contains <skill>/SKILL.md for one or more skills',
  'pack/two-skills': 'two folders of the source contain the same skill: use the folder of one',
  'pack/unknown-skill': 'use the name of a skill that the source has',
  'pack/format': 'a file violates its specification: fix the findings',
  'pack/name': 'the skill and its folder must have the same valid name',
  'pack/scan':
    'the scan found something that the scan policy does not accept: review the findings or change the policy',
  'pack/manifest': 'manifest.json does not match the files: the pack was changed',
  'pack/exists': 'the file already exists: choose another name, or use --force',
  'pack/unwritable': 'the file cannot be written: see the reason, or choose another path',
  'pack/secret': 'remove the secret, or exclude the file with .skillignore',
  'pack/version':
    'set metadata.version in SKILL.md, or "version" in plugin.json of a plugin: a signature is bound to a name and a version',
  'signature/missing': 'packs must be signed here: ask for a signed one, or change install.require_signed',
  'signature/invalid': 'the signature does not match the bytes: do not use it',
  'signature/unknown-key': 'verify who owns the key, then pin it: skillwright keys add',
  'signature/comment': 'the signature is for another name or version: do not use it',
  'signature/rollback': 'it is older than the installed version: use --force to install it anyway',
  'signature/downgrade':
    'the installed version was signed, and this one is unsigned or signed by another key: use --force to install it anyway',
  'install/exists': 'it is already installed: run skillwright update, or replace it with --backup or --force',
  'install/edited':
    'files were edited after the install: --merge merges your edits with the new version, --keep keeps the edited files, --force replaces them',
  'install/conflict':
    'nothing was changed: --keep keeps your version of the file, --force takes the new one and keeps yours in the previous version',
  'install/not-installed':
    'skillwright lock lists the names of this root; --scope user uses the root of your home folder',
  'install/foreign': 'install did not create the folder: move it away, or use --backup or --force',
  'install/busy': 'another process is changing this root: wait for it',
  'install/root': 'the root cannot be used: see the reason',
  'install/agent': 'resolve the reason, then run skillwright install SOURCE --agent ID',
  'install/unwritable': 'the root cannot be written: see the reason',
  'install/no-space': 'free some disk space and try again; nothing was changed',
  'install/case':
    'the two names are one folder on some systems: rename or uninstall the other skill, or install only one of them',
  'install/homoglyph':
    'it may imitate the installed skill: check the name; to use this one instead, uninstall the other skill first',
  'install/refused': 'review the plan and confirm it; use --yes for non-interactive runs',
  'install/trash':
    'skillwright restore --list shows the trash, skillwright rollback NAME --list the earlier versions of a skill',
  'requires/missing': 'install the required skill, or add its source',
  'requires/cycle': 'the skills require each other in a cycle: ask their authors',
  'requires/version': 'install a version in the required range',
  'lock/invalid': 'fix skills.lock.json (is it an unresolved merge?), or restore it from version control',
  'lock/missing': 'install a skill first, or use a root that has a skills.lock.json',
  'lock/drift':
    'verify lists the files that differ: use --force to put the locked files back; rollback brings the replaced ones back',
  'lock/not-reproducible': 'the source no longer provides the locked bytes: update the skill',
  'lock/newer': 'a newer version wrote it: update skillwright',
} as const satisfies Record<string, string>;

export type PackProblem = keyof typeof PACK_PROBLEMS;

/** Why something was refused. `message` starts in lower case and is safe to print; `path` is the affected file, if there is one. */
export interface PackRefusal extends Problem<PackProblem> {
  readonly type: 'refused';
  readonly path?: string;
  /** The flag or setting that accepts it; absent if nothing does. */
  readonly allow?: string;
}

const ALLOWED_BY: Partial<Readonly<Record<PackProblem, string>>> = {
  'archive/bomb': 'install.archive.max_ratio',
  'archive/too-large': 'install.archive.max_file_bytes, install.archive.max_bytes',
  'archive/too-many': 'install.archive.max_entries',
  'archive/too-deep': 'install.archive.max_depth',
  'signature/missing': 'install.require_signed',
  'signature/rollback': '--force',
  'signature/downgrade': '--force',
  'install/exists': '--backup or --force',
  'install/foreign': '--backup or --force',
  'lock/drift': '--backup or --force',
};

/** Adds the hint for the code, unless `more` has one. Untrusted text in `message` must be `quoted`. */
export function packRefusal(
  code: PackProblem,
  message: string,
  more?: string | Partial<Pick<PackRefusal, 'path' | 'hint' | 'allow'>>,
): PackRefusal {
  const {
    path,
    hint = PACK_PROBLEMS[code],
    allow = ALLOWED_BY[code],
  } = typeof more === 'string' ? { path: more } : (more ?? {});
  return { type: 'refused', code, message, hint, path, allow };
}

/** The value; a refusal is thrown. The function that started the work catches it with `asRefusal`; users never see it. */
export function accepted<T>(value: T | PackRefusal): T {
  if (isRefusal(value)) throw problemError(value);
  return value;
}

/** Whether a result is a refusal. */
export function isRefusal(value: unknown): value is PackRefusal {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'refused' && 'code' in value;
}

/** The error that carries a refusal out of nested calls. */
export function refused(...refusal: Parameters<typeof packRefusal>): SkillError {
  return problemError(packRefusal(...refusal));
}

/** Runs `act` and returns the refusal that it throws. Rethrows everything else. */
export function orRefusal<T>(act: () => T): T | PackRefusal {
  try {
    return act();
  } catch (error) {
    return asRefusal(error);
  }
}

/** The refusal that a caught error carries. Rethrows every other error. */
export function asRefusal(error: unknown): PackRefusal {
  return toProblem(error, isRefusal);
}

/** The refusal that a caught error carries, if it carries one. */
export function findRefusal(error: unknown): PackRefusal | undefined {
  return isSkillError(error) && error.raised !== undefined && isRefusal(error.raised) ? error.raised : undefined;
}

const NOT_ALLOWED: ReadonlySet<string> = new Set([
  'install/refused',
  'pack/scan',
  'signature/missing',
  'signature/unknown-key',
  'source/refused',
]);

/** Whether a rule or a person denied something that is possible otherwise. */
export function isNotAllowed({ code }: Problem): boolean {
  return NOT_ALLOWED.has(code);
}

const NO_SPACE: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EMLINK']);
const NO_PERMISSION: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);

/** The problem that a system error of a write stands for; undefined if it is neither about space nor about permission. */
export function systemProblem(code: string): 'install/no-space' | 'install/unwritable' | undefined {
  if (NO_SPACE.has(code)) return 'install/no-space';
  return NO_PERMISSION.has(code) ? 'install/unwritable' : undefined;
}

/** `what` says what failed, in lower case. `otherwise` is the code for errors that are neither about space nor about permission. */
export function systemRefusal(error: unknown, what: string, otherwise: PackProblem = 'install/root'): PackRefusal {
  if (!isSystemError(error)) throw error;
  return packRefusal(systemProblem(error.code) ?? otherwise, `${what} (${error.code})`);
}

/** Runs `act` and returns system errors and the refusals that it throws as values. Rethrows everything else. */
export async function orSystemRefusal<T>(
  act: () => Promise<T>,
  what: string,
  otherwise?: PackProblem,
): Promise<T | PackRefusal> {
  try {
    return await act();
  } catch (error) {
    const refusal = findRefusal(error);
    if (refusal !== undefined) return refusal;
    return systemRefusal(error, what, otherwise);
  }
}

/** Why an output file could not be written. */
export function writeRefusal(error: unknown, file: string): PackRefusal {
  if (!isSystemError(error)) throw error;
  const code = systemProblem(error.code) === 'install/no-space' ? 'install/no-space' : 'pack/unwritable';
  return packRefusal(code, `cannot write ${quoted(file, 200)} (${error.code})`, file);
}

const NOT_FOUND: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/** Why a file could not be read. `otherwise` is the code for errors other than "not found". */
export function readRefusal(error: unknown, file: string, otherwise: PackProblem = 'source/failed'): PackRefusal {
  if (!isSystemError(error)) throw error;
  if (NOT_FOUND.has(error.code)) return packRefusal('source/missing', `${quoted(file, 200)} does not exist`, file);
  return packRefusal(otherwise, `cannot read ${quoted(file, 200)} (${error.code})`, file);
}

const TREE_PROBLEMS: Readonly<Record<TreeRefusal['problem'], PackProblem>> = {
  gone: 'source/missing',
  changed: 'source/changed',
  unreadable: 'source/refused',
  'not-regular': 'archive/special-file',
  'link-outside': 'archive/link',
  'hard-link': 'archive/link',
  name: 'archive/name',
  'too-many': 'archive/too-many',
  'too-large': 'archive/too-large',
  'too-deep': 'archive/too-deep',
};

/** Why a folder of skills cannot be read. An empty `folder` is left out of the message. */
export function treeRefusal({ problem, path, message, hint }: TreeRefusal, folder: string): PackRefusal {
  const at = [folder, path].filter((part) => part !== '').join('/');
  const text = folder === '' ? message : `${quoted(folder, 200)}: ${message}`;
  const refusal = packRefusal(TREE_PROBLEMS[problem], text, at);
  // The hint of the code is about servers.
  return problem === 'unreadable' ? { ...refusal, hint } : refusal;
}
