/**
 * Refuses to start an agent on skills that differ from their lock file: edited, added, missing or never locked files.
 *
 *     node verify-installed.js [ROOT]
 */
import { isRefusal, verifyRoot, type VerifiedSkill } from 'skillwright/packs';

const root = process.argv[2] ?? '.agents/skills';
const verified = await verifyRoot(root);
if (isRefusal(verified)) {
  console.error(`${verified.code}: ${verified.message}`);
  process.exit(1);
}

for (const skill of verified.skills) {
  console.log(`${skill.status.padEnd(10)} ${skill.name} ${skill.digest?.split(':')[1]?.slice(0, 12) ?? ''}`.trimEnd());
  for (const line of differences(skill)) console.log(`  ${line}`);
}
if (!verified.isIntact) {
  console.error(
    'the skills are not those that were installed: review them, then skillwright restore or skillwright install',
  );
  process.exitCode = 1;
}

function differences({ drift, reason }: VerifiedSkill): readonly string[] {
  return [
    ...drift.changed.map((file) => `changed ${file}`),
    ...drift.added.map((file) => `added ${file}`),
    ...drift.missing.map((file) => `missing ${file}`),
    ...(reason === '' ? [] : [reason]),
  ];
}
