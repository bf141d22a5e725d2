/**
 * Every reason for which a pack, a source or a change of a root is refused, and what to do then: the one list. Codes never change their
 * meaning. Nothing was written where one of them is given.
 */
export const PACK_PROBLEMS = {
  'archive/unreadable': 'the file is damaged or no archive: get it again, or ask whoever made it',
  'archive/format': 'give a .zip, .skill, .tar.gz or .tgz',
  'archive/traversal': 'the archive tries to leave its folder: do not use it',
  'archive/absolute': 'names in an archive must start from its folder: pack it again',
  'archive/backslash': 'names in an archive are written with /: pack it again',
  'archive/name':
    'a name in the archive is empty, hidden, too long or not usable on every system: rename the file and pack again',
  'archive/reserved-name': 'a name in the archive cannot exist on Windows: rename the file and pack again',
  'archive/link': 'links are not installed: put the file itself into the archive',
  'archive/special-file': 'an archive of skills holds files and folders only',
  'archive/mode': 'setuid, setgid and sticky bits are not installed: pack it again without them',
  'archive/duplicate': 'two entries are one file: pack it again with each file once',
  'archive/collision': 'two names are the same file on some systems: rename one',
  'archive/conflict': 'one name is a file and a folder: pack it again',
  'archive/overlap': 'entries share bytes, which only bombs do: do not use it',
  'archive/bomb': 'it unpacks to far more than its size: do not use it, or raise install.archive limits knowingly',
  'archive/too-large': 'raise install.archive limits knowingly, or make the pack smaller',
  'archive/too-many': 'raise install.archive limits knowingly, or pack fewer files',
  'archive/too-deep': 'pack it with fewer folders inside folders',
  'archive/encrypted': 'encrypted archives cannot be inspected: ask for one without a password',
  'archive/method': 'only stored and deflated entries are read: pack it again as a plain zip',
  'archive/mismatch': 'its two tables of contents disagree, so that programs read it differently: do not use it',
  'archive/checksum': 'the archive is damaged: get it again',
  'archive/extra-data':
    'data stands before, after or between its parts, so that programs read it differently: pack it again',
  'archive/zip64': 'its 64-bit sizes make no sense: do not use it',
  'source/unknown': 'give a folder, an archive, a URL, a git address, npm:NAME, or a site with an index of skills',
  'source/missing': 'nothing is there: look at the path or the address',
  'source/refused': 'the server or the rules of this machine do not allow it',
  'source/failed': 'try again later; see the reason',
  'source/not-offline': 'this source needs the network: leave out --offline',
  'source/digest': 'the bytes are not those that were promised: somebody changed them, or the index is old',
  'source/revision': 'name a branch, a tag or a commit that exists',
  'source/changed': 'it changed while it was looked at: try again',
  'pack/no-skill': 'a pack holds <skill>/SKILL.md for one or more skills',
  'pack/two-skills': 'two folders of the source have the same skill: name the folder of one',
  'pack/unknown-skill': 'name a skill that the source has',
  'pack/format': 'SKILL.md is against the specification: see the findings, or install with --lenient',
  'pack/name': 'the name of the skill and its folder must be one valid name',
  'pack/scan':
    'the scan found what your policy does not accept: read the findings, then change the policy knowingly or do not install it',
  'pack/manifest': 'manifest.json and the files differ: somebody changed the pack',
  'pack/exists': 'a file of that name is there already: give another name, or use --force',
  'pack/unwritable': 'the file cannot be written there: see the reason, or give another place',
  'pack/secret': 'take the secret out, or leave the file out with .skillignore',
  'pack/version': 'give metadata.version in SKILL.md: a signature is bound to a name and a version',
  'signature/missing': 'the pack must be signed here: ask for a signed one, or change install.require_signed',
  'signature/invalid': 'the signature does not fit the bytes: do not use it',
  'signature/unknown-key': 'pin the key after you made sure whose it is: skillwright keys add',
  'signature/comment': 'the signature is for another name or version: do not use it',
  'signature/rollback': 'an older version than the one installed: --force takes it knowingly',
  'signature/downgrade':
    'the installed one was signed and this one is not, or by another key: --force takes it knowingly',
  'install/exists': 'it is installed already: update it, or use --backup or --force',
  'install/edited': 'files were changed here since it was installed: --merge, --keep or --force',
  'install/conflict': 'both sides changed the same lines: merge by hand, or use --keep or --force',
  'install/not-installed': 'name a skill that list shows for this root',
  'install/foreign': 'the folder was not made by install: move it away, or use --backup or --force',
  'install/busy': 'another process changes this root: wait for it',
  'install/root': 'the root cannot be used: see the reason',
  'install/unwritable': 'the system does not let the root be written: see the reason',
  'install/no-space': 'free some space and try again; nothing was changed',
  'install/case': 'its name differs from an installed one only in spelling: use --force with the exact name, or rename',
  'install/homoglyph': 'its name looks like that of an installed skill: make sure that it is the one you want',
  'install/refused': 'look at what would be done, then say yes; --yes where nobody can be asked',
  'install/trash': 'there is nothing of that name to bring back',
  'requires/missing': 'install the skill that it needs, or give its source',
  'requires/cycle': 'the skills need each other in a circle: ask their authors',
  'requires/version': 'install a version that fits',
  'lock/invalid': 'mend skills.lock.json (a merge conflict?), or restore it from version control',
  'lock/missing': 'install something first, or give the root that has a skills.lock.json',
  'lock/drift': 'what is installed is not what the lock says: install --frozen puts it right',
  'lock/not-reproducible': 'the source no longer gives what the lock says: update knowingly',
  'lock/newer': 'it was written by a newer version: update skillwright',
} as const satisfies Record<string, string>;

export type PackProblem = keyof typeof PACK_PROBLEMS;

/** Why something is not done. Lower case, safe to print; `path` is a file of the pack, or of this machine, where one is to blame. */
export interface PackRefusal {
  readonly type: 'refused';
  readonly code: PackProblem;
  readonly path?: string;
  readonly message: string;
  readonly hint: string;
}

/** A refusal with the advice of the table. `message` names the thing; what strangers wrote in it must be `quoted`. */
export function packRefusal(code: PackProblem, message: string, path?: string): PackRefusal {
  return { type: 'refused', code, message, hint: PACK_PROBLEMS[code], ...(path === undefined ? {} : { path }) };
}

export function isRefusal(value: object): value is PackRefusal {
  return 'type' in value && value.type === 'refused' && 'code' in value;
}

const NO_SPACE: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EMLINK']);
const NO_LEAVE: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);

/** What an error of the system means for whoever writes; nothing where it means neither space nor leave. */
export function systemProblem(code: string): 'install/no-space' | 'install/unwritable' | undefined {
  if (NO_SPACE.has(code)) return 'install/no-space';
  return NO_LEAVE.has(code) ? 'install/unwritable' : undefined;
}

const NOT_ALLOWED: ReadonlySet<PackProblem> = new Set([
  'install/refused',
  'pack/scan',
  'signature/missing',
  'signature/unknown-key',
  'source/refused',
]);

/** It could be done, and a rule or a person did not let it. */
export function isNotAllowed({ code }: PackRefusal): boolean {
  return NOT_ALLOWED.has(code);
}

/** Carries a refusal out of the middle of a long work; caught where the work began, never seen by users. */
export class PackRefused extends Error {
  override readonly name = 'PackRefused';
  readonly refusal: PackRefusal;

  constructor(refusal: PackRefusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}
