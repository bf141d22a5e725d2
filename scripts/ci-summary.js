// Prints the failures of the reports in a folder and what passed only at the second try, then the sum of all runs: "N passed, N failed".
// Arguments: the folder, and the exit code of the commands that wrote the reports.
import fs from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const ERROR_LINES = 15;
const [folder, status] = process.argv.slice(2);
const reports = fs.readdirSync(folder).map((name) => JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')));
const failures = reports.flatMap((report) => report.failures);
if (failures.length === 0 && (status !== '0' || reports.length === 0))
  failures.push({
    name: 'a command ended early',
    file: '',
    error: `exit code ${status}, and no report names a failure`,
  });
const print = (verdict, { name, file, error }) => {
  const lines = stripVTControlCharacters(error).split('\n').slice(0, ERROR_LINES);
  console.log(
    `\n${verdict}  ${name}${file === '' ? '' : `  (${file})`}\n${lines.map((line) => `    ${line}`).join('\n')}`,
  );
};
for (const test of reports.flatMap((report) => report.triedTwice)) print('PASSED AT THE SECOND TRY', test);
for (const test of failures) print('FAILED', test);
const passed = reports.reduce((total, report) => total + report.passed, 0);
console.log(`${passed} passed, ${failures.length} failed`);
