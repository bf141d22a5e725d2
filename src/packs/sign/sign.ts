/** Signs packs, and says whether a signature is one of a pinned key for just these skills. Minisign's format; nothing but `node:crypto`. */
import { compareText } from '../../core/diagnostic.ts';
import { parseSignature } from './minisign.ts';
import type { PackManifest } from '../pack/manifest.ts';
import { PackRefused, packRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import { formatPackComment, isSignableVersion, parsePackComment } from './signed-comment.ts';
import type { PackComment, SignedSkill } from './signed-comment.ts';
import { quoted } from '../../core/text/text.ts';
import { writeWholeText } from '../whole-file.ts';
import { isSignedBy, signed, sumsOf } from './signature.ts';
import type { Payload, PayloadSums } from './signature.ts';
import type { SigningKey } from './secret-key.ts';
import type { PinnedKey } from './keys.ts';

export const SIGNATURE_SUFFIX = '.minisig';

export interface SignPackOptions {
  /** A pack or a manifest. */
  readonly file: string;
  readonly manifest: PackManifest;
  readonly key: SigningKey;
  readonly now?: Date;
  /** Where the signature goes; beside the file where absent. */
  readonly out?: string;
  readonly force?: boolean;
  /** All is done but the writing. */
  readonly dryRun?: boolean;
}

export interface SignedPack {
  readonly type: 'signed';
  readonly path: string;
  readonly keyId: string;
  readonly comment: PackComment;
  readonly text: string;
}

/** Writes `<file>.minisig`. Every skill needs a version: a signature without one could be used for an older pack. */
export function signPack(options: SignPackOptions): SignedPack | PackRefusal {
  return orRefusal(() => {
    const { file, manifest, key, now = new Date(), out = file + SIGNATURE_SUFFIX, force = false } = options;
    const skills = signableSkills(manifest);
    const sums = sumsOf({ file });
    const comment: PackComment = { skills, sha256: sums.sha256, time: `${now.toISOString().slice(0, 19)}Z` };
    const text = signed(sums, key, formatPackComment(comment));
    if (options.dryRun !== true) writeWholeText(out, text, { force });
    return { type: 'signed', path: out, keyId: key.id, comment, text };
  });
}

function signableSkills({ skills }: PackManifest): readonly SignedSkill[] {
  return skills
    .map(({ name, version }) => {
      if (version === undefined)
        throw new PackRefused(packRefusal('pack/version', `the skill ${quoted(name)} states no version`, name));
      if (!isSignableVersion(version))
        throw new PackRefused(
          packRefusal('pack/version', `${quoted(version)} of the skill ${quoted(name)} is no version`, name),
        );
      return { name, version };
    })
    .sort((a, b) => compareText(a.name, b.name));
}

export interface VerifyOptions {
  readonly payload: Payload;
  /** The text of the signature; absent where there is none. */
  readonly signature: string | undefined;
  readonly keys: readonly PinnedKey[];
  /** What the bytes turned out to hold: every one of them must be named by the signature, with its version, and no other. */
  readonly skills?: readonly { readonly name: string; readonly version?: string }[];
}

export interface VerifiedSignature {
  readonly type: 'verified';
  readonly keyId: string;
  /** What the person calls the key. */
  readonly keyName: string;
  /** Hex, of the bytes that were looked at: what is unpacked later must be these. */
  readonly sha256: string;
  /** As it was signed; `comment` where it is one of ours. */
  readonly trustedComment: string;
  readonly comment?: PackComment;
}

/** Whether a pinned key signed these bytes for these skills. */
export function verifySignature(options: VerifyOptions): VerifiedSignature | PackRefusal {
  return orRefusal(() => verified(options));
}

function verified({ payload, signature: text, keys, skills }: VerifyOptions): VerifiedSignature | PackRefusal {
  if (text === undefined) return packRefusal('signature/missing', 'there is no signature');
  const signature = parseSignature(text);
  if (signature.type === 'invalid') return packRefusal('signature/invalid', `it is no signature: ${signature.reason}`);
  // An id is nobody's property: all keys that have it are asked.
  const named = keys.filter(({ key }) => key.id === signature.keyId);
  if (named.length === 0)
    return packRefusal('signature/unknown-key', `it is signed with the key ${signature.keyId}, which is not pinned`);
  const sums = sumsOf(payload);
  const signer = named.find(({ key }) => isSignedBy(key, signature, { payload, sums }));
  if (signer === undefined)
    return packRefusal('signature/invalid', `the signature is not that of the key ${signature.keyId} for these bytes`);
  const comment = parsePackComment(signature.trustedComment);
  const wrong = skills === undefined ? undefined : commentProblem(comment, skills, sums);
  if (wrong !== undefined) return packRefusal('signature/comment', wrong);
  return {
    type: 'verified',
    keyId: signature.keyId,
    keyName: signer.name,
    sha256: sums.sha256,
    trustedComment: signature.trustedComment,
    ...(comment === undefined ? {} : { comment }),
  };
}

function commentProblem(
  comment: PackComment | undefined,
  skills: NonNullable<VerifyOptions['skills']>,
  { sha256 }: PayloadSums,
): string | undefined {
  if (comment === undefined) return 'the signature names no skills and versions';
  if (comment.sha256 !== sha256) return 'the signature names other bytes';
  const versions = new Map(comment.skills.map(({ name, version }) => [name, version]));
  for (const { name, version } of skills) {
    const stated = versions.get(name);
    if (stated === undefined) return `the signature is not for the skill ${quoted(name)}`;
    if (stated !== version)
      return `the signature is for version ${quoted(stated)} of ${quoted(name)}, and this is ${version === undefined ? 'none' : quoted(version)}`;
  }
  const absent = comment.skills.find(({ name }) => skills.every((skill) => skill.name !== name));
  return absent === undefined ? undefined : `the signature is also for the skill ${quoted(absent.name)}`;
}

function orRefusal<T>(act: () => T): T | PackRefusal {
  try {
    return act();
  } catch (error) {
    if (error instanceof PackRefused) return error.refusal;
    throw error;
  }
}
