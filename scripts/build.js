// Builds dist: modules and declarations by tsc (the package has only the declarations; tests import the modules), the bundled library, the
// bundled command and the console.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('..', import.meta.url));
rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true });
await Promise.all([compile(), run('scripts/build-library.js'), run('scripts/build-console.js')]);

async function compile() {
  await run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json');
  await Promise.all([run('scripts/prune-types.js'), run('scripts/build-command.js')]);
}

/** Ends this process with the exit code of the first step that fails. */
function run(...words) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, words, { cwd: project, stdio: 'inherit' });
    child.on('close', (code) => (code === 0 ? resolve() : process.exit(code ?? 1)));
  });
}
