// Which packages npm installs beside this one, and which are bundled into it, with their licenses.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const project = (file) => fileURLToPath(new URL(`../${file}`, import.meta.url));
const { dependencies, peerDependencies } = JSON.parse(readFileSync(project('package.json'), 'utf8'));
export const optionalPackages = Object.keys(peerDependencies);
const installed = new Set(Object.keys({ ...dependencies, ...peerDependencies }));
/** In the console and in the page of reports. */
const IN_PAGES = ['preact'];

/** Whether a module is found when the program runs: Node has it, or npm installs its package. */
export function isInstalled(name) {
  return isBuiltin(name) || installed.has(name.split('/', name.startsWith('@') ? 2 : 1).join('/'));
}

/** Writes the licenses of all packages that a bundle contains. `inputs` are the files that esbuild read. */
export function writeNotices(inputs) {
  const folders = Object.keys(inputs).flatMap(
    (file) => /^(?:\w+:)?(.*\bnode_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [],
  );
  const notices = new Map();
  for (const folder of [...folders, ...IN_PAGES.map((name) => `node_modules/${name}`)]) {
    const { name, version, license } = JSON.parse(readFileSync(project(`${folder}/package.json`), 'utf8'));
    const file = readdirSync(project(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? '' : readFileSync(project(path.join(folder, file)), 'utf8').trim();
    notices.set(`${name} ${version}`, `${name} ${version}: ${license}\n\n${text}`.trim());
  }
  const sorted = [...notices].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, notice]) => notice);
  const introduction = 'Skillwright contains the following packages under their own licenses.';
  writeFileSync(project('dist/NOTICES.txt'), `${[introduction, ...sorted].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`);
}
