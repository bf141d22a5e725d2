// Prepares a release: `node scripts/release.js VERSION [--dry-run] [--skip-tests]`.
//
// Checks the version, the work tree and the changelog; writes the version and the changelog section; runs the tests; shows what
// would be published; then commits and tags. Pushing the tag publishes: .github/workflows/release.yml builds from the tag and signs
// where the package comes from (npm provenance), which a laptop cannot. `--dry-run` does everything but commit and tag, and puts the files back.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import semver from 'semver';

const project = fileURLToPath(new URL('..', import.meta.url));
const read = (file) => readFileSync(path.join(project, file), 'utf8');
const run = (program, words, stdio = ['ignore', 'pipe', 'inherit']) =>
  execFileSync(program, words, { cwd: project, encoding: 'utf8', stdio });
const fail = (message, hint) => {
  console.error(`error: ${message}\nhint: ${hint}`);
  process.exit(1);
};

const { version, isDry, skipsTests } = readArguments();
const before = Object.fromEntries(
  ['package.json', 'package-lock.json', 'src/version.ts', 'CHANGELOG.md'].map((file) => [file, read(file)]),
);
checkState();
const after = changedFiles();

try {
  for (const [file, text] of Object.entries(after)) writeFileSync(path.join(project, file), text);
  console.log(`${version}: wrote ${Object.keys(after).join(', ')}`);
  if (skipsTests) console.log('tests: skipped; the build is the one that exists');
  else run('npm', ['test'], 'inherit');
  checkBuild();
  run('npm', ['publish', '--dry-run', '--provenance', '--ignore-scripts', ...tagWords()], 'inherit');
  if (isDry) console.log(`dry run: nothing was committed or published; the files are as before`);
  else {
    run('git', ['commit', '--quiet', '-m', `Release ${version}`, '--', ...Object.keys(after)]);
    run('git', ['tag', '--annotate', `v${version}`, '-m', `Release ${version}`]);
    console.log(`committed and tagged v${version}; publish it: git push --follow-tags`);
  }
} catch (error) {
  restore();
  fail(error.message, 'fix it and start again; the files are as before');
}
if (isDry) restore();

function readArguments() {
  const usage = 'node scripts/release.js VERSION [--dry-run] [--skip-tests]';
  const options = { 'dry-run': { type: 'boolean' }, 'skip-tests': { type: 'boolean' } };
  try {
    const { values, positionals } = parseArgs({ allowPositionals: true, options });
    const [given = ''] = positionals;
    if (positionals.length !== 1 || semver.valid(given) !== given)
      fail(`${JSON.stringify(positionals.join(' '))} is not one semantic version`, usage);
    return { version: given, isDry: values['dry-run'] === true, skipsTests: values['skip-tests'] === true };
  } catch (error) {
    return fail(error.message, usage);
  }
}

/** The current version can be released once; every other one must be higher. */
function checkState() {
  const { version: current } = JSON.parse(before['package.json']);
  const tags = run('git', ['tag', '--list']).split('\n');
  if (tags.includes(`v${version}`)) fail(`v${version} is tagged already`, 'choose a higher version');
  if (semver.lt(version, current)) fail(`${version} is lower than ${current}`, 'choose a higher version');
  const { repository } = JSON.parse(before['package.json']);
  const missing = 'package.json names no repository, which npm compares with the one that publishes (provenance)';
  if (repository === undefined && isDry) console.log(`warning: ${missing}`);
  else if (repository === undefined) fail(missing, 'npm pkg set repository.type=git repository.url=git+https://...');
  const dirty = run('git', ['status', '--porcelain']).trim();
  if (dirty !== '') fail(`the work tree has changes:\n${dirty}`, 'commit or remove them');
}

function changedFiles() {
  const changelog = before['CHANGELOG.md'];
  const [, unreleased] = /^## \[Unreleased\]\n([\s\S]*?)(?=^## \[|$(?![\s\S]))/m.exec(changelog) ?? [];
  if (unreleased === undefined || !/^- /m.test(unreleased))
    fail('CHANGELOG.md lists no changes under "## [Unreleased]"', 'describe what changed since the last version');
  const today = new Date().toISOString().slice(0, 10);
  const manifest = JSON.parse(before['package.json']);
  const lock = JSON.parse(before['package-lock.json']);
  const { '': root } = lock.packages;
  return {
    'package.json': jsonText({ ...manifest, version }),
    'package-lock.json': jsonText({
      ...lock,
      version,
      packages: { ...lock.packages, '': { ...root, version } },
    }),
    'src/version.ts': before['src/version.ts'].replace(/VERSION = '[^']*'/, `VERSION = '${version}'`),
    'CHANGELOG.md': changelog.replace('## [Unreleased]\n', `## [Unreleased]\n\n## [${version}] - ${today}\n`),
  };
}

function jsonText(value) {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** A preview such as 1.0.0-beta.1 must not become what `npm install skillwright` installs. */
function tagWords() {
  return semver.prerelease(version) === null ? [] : ['--tag', 'next'];
}

function checkBuild() {
  const { bin, exports } = JSON.parse(before['package.json']);
  const files = [bin, ...Object.values(exports)].flatMap((value) =>
    typeof value === 'string' ? [value] : Object.values(value),
  );
  const missing = files.filter((file) => !existsSync(path.join(project, file)));
  if (missing.length > 0) throw new Error(`the build lacks ${missing.join(', ')}: run npm run build`);
}

function restore() {
  for (const [file, text] of Object.entries(before)) writeFileSync(path.join(project, file), text);
}
