// Runs the static checks, and beside them the scripts of package.json that are named as arguments, two at a time. Prints the output of
// those that fail.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const CHECKS = ['check:types', 'check:lint', 'check:unused', 'check:package', 'check:format'];
// .ci/run names a folder for failures.
const report = process.env.TEST_REPORT;
// The type checker and the linter are Go programs, which spend up to a fifth of their time on collecting garbage at the default of 100.
const env = { ...process.env, GOGC: '400' };

function run(name) {
  return new Promise((resolve) => {
    const child = spawn('npm', ['run', '--silent', name], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = [];
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    child.on('error', (error) => resolve({ name, passed: false, text: error.message }));
    child.on('close', (code) => resolve({ name, passed: code === 0, text: Buffer.concat(output).toString() }));
  });
}

const waiting = [...process.argv.slice(2), ...CHECKS];
async function runWaiting() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const { passed, text } = await run(name);
    console.log(passed ? `passed  ${name}` : `FAILED  ${name}\n${text}`);
    if (passed) continue;
    process.exitCode = 1;
    if (report !== undefined)
      writeFileSync(
        `${report}/${name}.json`,
        JSON.stringify({ state: '', passed: [], skipped: [], failures: [{ name, file: '', error: text }] }),
      );
  }
}
await Promise.all([runWaiting(), runWaiting()]);
