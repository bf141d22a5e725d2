/** A pack that is not installed: what it holds, whether it is what its manifest and its signature say, and what the scan finds. Nothing is kept. */
import path from 'node:path';

import { openNameJudge } from './inspect/confusable-name.ts';
import { EMPTY_LOCK } from './lock/lock-file.ts';
import { isRefusal, packRefusal } from './problems.ts';
import type { PackRefusal } from './problems.ts';
import type { BroughtSource } from './sources/source.ts';
import { makeFolders } from '../platform/fs/make-folders.ts';
import { removeTree } from '../platform/fs/remove-tree.ts';
import { temporaryName } from '../platform/fs/atomic-replace.ts';
import { bringPack, inspectSource, readTypedSource } from './inspect/bring-pack.ts';
import type { InspectedSkill } from './inspect/inspect-skill.ts';
import type { PackSettings } from './pack-place.ts';
import { proveSource } from './inspect/prove-source.ts';

export interface VerifiedPack {
  readonly type: 'verified-pack';
  readonly source: string;
  readonly archive?: string;
  readonly hasManifest: boolean;
  readonly signedBy?: string;
  readonly skills: readonly InspectedSkill[];
  /** Why it could not be installed; empty where it could. */
  readonly refusals: readonly PackRefusal[];
}

export interface VerifyPackOptions {
  readonly settings: PackSettings;
  readonly source: string;
  /** A folder of ours in which it is unpacked, and which is as before afterwards. */
  readonly workFolder: string;
  /** A missing signature is a refusal too. */
  readonly signature?: boolean;
  readonly lenient?: boolean;
  readonly signal?: AbortSignal;
}

/** Refused where it cannot be unpacked at all. */
export async function verifyPack(options: VerifyPackOptions): Promise<VerifiedPack | PackRefusal> {
  const { settings, workFolder, signal } = options;
  const source = readTypedSource(options.source, settings);
  if (isRefusal(source)) return source;
  const to = temporaryName(path.join(workFolder, 'verify'), '');
  try {
    makeFolders(to, 0o700);
    const brought = await bringPack(source, { settings, to, ...(signal === undefined ? {} : { signal }) });
    return isRefusal(brought) ? brought : await judge(brought, options);
  } finally {
    await removeTree(to);
  }
}

async function judge(brought: BroughtSource, options: VerifyPackOptions): Promise<VerifiedPack | PackRefusal> {
  const { settings, signature = false, signal } = options;
  const inspected = await inspectSource(brought, {
    settings,
    mode: options.lenient === true ? 'lenient' : 'strict',
    names: [],
    judgeName: openNameJudge([]),
    ...(signal === undefined ? {} : { signal }),
  });
  if (isRefusal(inspected)) return inspected;
  const { wanted: skills } = inspected;
  const proof = await proveSource(brought, skills, {
    settings: { ...settings, requireSigned: settings.requireSigned || signature },
    lock: EMPTY_LOCK,
    force: false,
  });
  const { resolved, manifest } = brought;
  const signedBy = isRefusal(proof) ? undefined : proof.signedBy;
  const unproven =
    signature && !isRefusal(proof) && signedBy === undefined
      ? [packRefusal('signature/missing', 'it is not signed')]
      : [];
  return {
    type: 'verified-pack',
    source: resolved.source,
    ...(resolved.archive === undefined ? {} : { archive: resolved.archive }),
    hasManifest: manifest !== undefined,
    ...(signedBy === undefined ? {} : { signedBy }),
    skills,
    refusals: [...(isRefusal(proof) ? [proof] : []), ...unproven, ...skills.flatMap(({ refusals }) => refusals)],
  };
}
