// Prints the end of the log of CI from the reports in a folder: what was skipped on which machine, each failure, and as the last line the
// sum of all runs: "N passed, N failed". A test that was skipped in every run is a failure. A failure is called unstable, and does not fail
// CI, if every test of its file passed in a second run of that file alone.
// Arguments: the folder, and the exit code of the commands that wrote the reports. Exit code 1: something failed.
import fs from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const ERROR_LINES = 15;
/** What no machine of CI has. Tests that need it are run by hand, or on the machine of a contributor. */
const ELSEWHERE = [
  /^nothing, it does not apply: /,
  /^control groups of version 2$/,
  /^an x64 processor$/,
  /^Node 22\.12 or newer$/,
  /^uv$/,
  /^jar$/,
  /^the npm packages skills and openskills in the folder TEST_PEERS$/,
];

const [folder, status] = process.argv.slice(2);
const written = fs.readdirSync(folder).map((name) => JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')));
const reports = written.filter(({ again }) => !again);
const passedAlone = ({ state }, { file }) =>
  written.some(
    (second) =>
      second.again &&
      second.state === state &&
      second.passed.some((id) => id.startsWith(`${file} > `)) &&
      second.failures.every((failure) => failure.file !== file && failure.file !== ''),
  );
const found = reports.flatMap((report) =>
  report.failures.map((failure) => ({
    ...failure,
    name: report.state === '' ? failure.name : `${report.state}: ${failure.name}`,
    isUnstable: passedAlone(report, failure),
  })),
);
const failures = found.filter(({ isUnstable }) => !isUnstable);
const passed = new Set(written.flatMap((report) => report.passed));

/** Tests that passed nowhere although nobody said that they need another machine. */
const neverRun = new Map(
  reports
    .flatMap(({ skipped }) => skipped)
    .filter(({ id, missing }) => !passed.has(id) && !ELSEWHERE.some((pattern) => pattern.test(missing)))
    .map(({ id, missing }) => [id, missing]),
);
for (const [id, missing] of neverRun)
  failures.push({ name: id, file: '', error: `skipped in every run: it needs ${missing}` });
if (failures.length === 0 && (status !== '0' || reports.length === 0))
  failures.push({
    name: 'a command ended early',
    file: '',
    error: `exit code ${status}, and no report names a failure`,
  });

const unstable = found.filter(({ isUnstable }) => isUnstable);
for (const { name, file, error, isUnstable } of [...unstable, ...failures]) {
  const lines = stripVTControlCharacters(error).split('\n').slice(0, ERROR_LINES);
  const verdict = isUnstable ? 'UNSTABLE, passed in a second run of its file:' : 'FAILED ';
  console.log(
    `\n${verdict} ${name}${file === '' ? '' : `  (${file})`}\n${lines.map((line) => `    ${line}`).join('\n')}`,
  );
}
for (const { state, passed: ran, skipped } of reports.filter((report) => report.state !== '')) {
  console.log(`\n${state}: ${ran.length} passed, ${skipped.length} skipped`);
  const counts = new Map();
  for (const { missing } of skipped) {
    const reason = missing.startsWith('nothing, ') ? 'nothing: the case does not apply to the executor' : missing;
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  for (const [missing, tests] of [...counts].toSorted(([, a], [, b]) => b - a))
    console.log(`  ${String(tests).padStart(4)}  need ${missing}`);
}
const total = reports.reduce((sum, report) => sum + report.passed.length, unstable.length);
console.log(`\n${total} passed, ${failures.length} failed`);
process.exitCode = failures.length === 0 ? 0 : 1;
