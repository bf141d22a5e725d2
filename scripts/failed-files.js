// Prints the test files that failed in one state of CI, for a second run. Arguments: the folder of reports, and the state.
// Exit code 1: no second run can help, because a failure belongs to no file, or too many files failed.
import fs from 'node:fs';
import path from 'node:path';

const MOST_FILES = 5;

const [folder, state] = process.argv.slice(2);
const failures = fs
  .readdirSync(folder)
  .map((name) => JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')))
  .filter((report) => report.state === state)
  .flatMap((report) => report.failures);
const files = [...new Set(failures.map(({ file }) => file))];
if (files.length === 0 || files.length > MOST_FILES || files.includes('')) process.exit(1);
console.log(files.join(' '));
