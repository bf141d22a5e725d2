// Prints the failures of the reports in a folder, then the sum of all runs: "N passed, N failed". Arguments: the folder, and the exit code
// of the commands that wrote the reports.
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
for (const { name, file, error } of failures) {
  const lines = stripVTControlCharacters(error).split('\n').slice(0, ERROR_LINES);
  console.log(`\nFAILED  ${name}${file === '' ? '' : `  (${file})`}\n${lines.map((line) => `    ${line}`).join('\n')}`);
}
const passed = reports.reduce((total, report) => total + report.passed, 0);
console.log(`${passed} passed, ${failures.length} failed`);
