import { compareText } from '../../core/diagnostic.ts';
import { sbomOf } from './sbom.ts';
import type { Sbom, SbomSkill } from './sbom.ts';
import { sha256 } from '../../platform/hash.ts';
import { VERSION } from '../../version.ts';

/** The bill of materials of these skills. Its number is that of their names, versions and digests: the same skills, the same number. */
export function makeSbom(skills: readonly SbomSkill[], { now }: { readonly now: Date }): Sbom {
  const lines = skills.map(({ name, version = '', digest }) => JSON.stringify([name, version, digest]));
  return sbomOf({
    skills,
    tool: VERSION,
    timestamp: `${now.toISOString().slice(0, 19)}Z`,
    identity: sha256(lines.sort(compareText).join('\n')),
  });
}
