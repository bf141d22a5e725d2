/** Programs that use the examples of the source documents, against the packed tarball in an empty project. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { PROJECT } from '../files-below.ts';
import { scratch } from '../registry/support.ts';

/** A project with nothing but the tarball and the packages that it declares: an undeclared import fails. */
function installed(): string {
  const project = scratch();
  const modules = path.join(project, 'node_modules');
  mkdirSync(path.join(modules, 'skillwright'), { recursive: true });
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', project];
  const tarball = execFileSync('npm', pack, { cwd: PROJECT, encoding: 'utf8', timeout: 120_000 }).trim();
  execFileSync('tar', ['xzf', tarball, '-C', path.join(modules, 'skillwright'), '--strip-components=1'], {
    cwd: project,
  });
  const manifest = JSON.parse(readFileSync(path.join(modules, 'skillwright/package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  for (const name of Object.keys(manifest.dependencies)) {
    mkdirSync(path.dirname(path.join(modules, name)), { recursive: true });
    symlinkSync(path.join(PROJECT, 'node_modules', name), path.join(modules, name));
  }
  return project;
}

test('the examples of the documents run with the packed package', () => {
  const project = installed();
  for (const name of ['openseed', 'trpc', 'manusx', 'skills-agent']) {
    copyFileSync(path.join(PROJECT, `test/seeds/packed/${name}.mjs`), path.join(project, `${name}.mjs`));
    const program = [path.join(project, `${name}.mjs`)];
    expect(execFileSync(process.execPath, program, { cwd: project, encoding: 'utf8', timeout: 120_000 })).toBe('');
  }
}, 240_000);
