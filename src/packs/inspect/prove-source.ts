/** Verifies the origin of staged skills: manifest and signature. */
import type { Drift } from '../lock/lock.ts';
import type { PackManifest } from '../pack/manifest.ts';
import { isRefusal, packRefusal, type PackRefusal } from '../problems.ts';
import type { StagedSource } from '../sources/source.ts';
import { quoted } from '#core';
import type { InspectedSkill } from './inspect-skill.ts';
import type { PackSettings } from '../pack-settings.ts';

export interface Proof {
  /** Id of the pinned key that signed the source, or this skill of it; absent if it is unsigned. */
  readonly signedBy?: string;
}

/** Adds to each skill the key that signed it. Skills of a site are signed one by one; one with an invalid signature is refused alone. */
export async function proveSkills(
  skills: readonly InspectedSkill[],
  { resolved }: StagedSource,
  { proof, settings }: { readonly proof: Proof; readonly settings: PackSettings },
): Promise<readonly InspectedSkill[]> {
  return await Promise.all(
    skills.map(async (skill) => {
      const own = resolved.kind === 'well-known' ? await verifySourceSignature(skill, [skill], settings) : proof;
      return isRefusal(own) ? { ...skill, refusals: [own, ...skill.refusals] } : { ...skill, ...own };
    }),
  );
}

/** Refuses if the manifest does not match the files, or the signature is invalid, or missing and required. */
export async function verifySource(
  staged: StagedSource,
  skills: readonly Pick<InspectedSkill, 'name' | 'version'>[],
  settings: PackSettings,
): Promise<Proof | PackRefusal> {
  const manifest = await fittingManifest(staged);
  if (manifest !== undefined && isRefusal(manifest)) return manifest;
  if (staged.resolved.kind === 'well-known') return {};
  // A signature covers the whole pack, even if only some of its skills are wanted.
  return await verifySourceSignature(staged, manifest?.skills ?? skills, settings);
}

/** Returns undefined if there is no manifest, or if `manifest.json` is not a pack manifest. */
async function fittingManifest({ manifest, folder }: StagedSource): Promise<PackManifest | PackRefusal | undefined> {
  if (manifest === undefined) return undefined;
  const { readPackManifest } = await import('../pack/read-pack-manifest.ts');
  const reading = readPackManifest(manifest);
  if (reading.type === 'absent') return packRefusal('pack/manifest', 'manifest.json was removed');
  if (reading.type === 'foreign') return undefined;
  if (isRefusal(reading)) return reading;
  const { checkManifest } = await import('../pack/check-manifest.ts');
  const check = checkManifest(folder, reading.manifest);
  if (check.type === 'same') return reading.manifest;
  if (isRefusal(check)) return check;
  return packRefusal('pack/manifest', `manifest.json does not match the files: ${driftText(check.drift)}`);
}

/** Shows the first few files of each kind. */
export function driftText({ changed, missing, added }: Drift): string {
  const part = (word: string, paths: readonly string[]): readonly string[] => {
    const more = paths.length > 5 ? ` and ${String(paths.length - 5)} more` : '';
    const shown = paths.slice(0, 5).map((file) => quoted(file, 100));
    return paths.length === 0 ? [] : [`${word} ${shown.join(', ')}${more}`];
  };
  return [...part('changed', changed), ...part('missing', missing), ...part('added', added)].join('; ');
}

async function verifySourceSignature(
  { signature }: Pick<StagedSource, 'signature'>,
  skills: readonly { readonly name: string; readonly version?: string }[],
  { requireSigned, surroundings: { home } }: PackSettings,
): Promise<Proof | PackRefusal> {
  if (signature === undefined) return requireSigned ? packRefusal('signature/missing', 'the source is not signed') : {};
  const { openPinnedKeys } = await import('../sign/keys.ts');
  const { verifySignature } = await import('../sign/sign.ts');
  const verified = verifySignature({
    payload: { file: signature.payload },
    signature: signature.text,
    keys: openPinnedKeys({ home }).list().keys,
    skills,
  });
  // A signature by an unknown key proves nothing, and none is required here.
  if (isRefusal(verified)) return verified.code === 'signature/unknown-key' && !requireSigned ? {} : verified;
  return { signedBy: verified.keyId };
}
