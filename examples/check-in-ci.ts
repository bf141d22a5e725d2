/**
 * Checks every skill of a folder by the strict rules of the format and fails the build on errors.
 *
 *     node check-in-ci.js [FOLDER]
 */
import { buildIndex, checkSkill } from 'skillwright';

const root = process.argv[2] ?? 'skills';
const index = await buildIndex({ roots: [{ source: 'ci', path: root, priority: 1, explicit: true }], mode: 'strict' });
const diagnostics = [
  ...index.diagnostics,
  ...index.all.flatMap(({ dir, file }) => checkSkill(dir, file, { mode: 'strict' }).diagnostics),
];

for (const { path, line, column, severity, code, message, hint } of diagnostics) {
  console.log(`${path}:${String(line)}:${String(column)} ${severity} ${code} ${message}`);
  console.log(`  ${hint}`);
}
console.log(`${String(index.all.length)} skills, ${String(diagnostics.length)} diagnostics`);
process.exitCode = diagnostics.some(({ severity }) => severity === 'error') ? 1 : 0;
