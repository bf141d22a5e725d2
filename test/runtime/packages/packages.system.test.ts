import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { Approve, ApprovalRequest } from '../../../src/core/approval.ts';
import { verifies } from '../../conformance/verifies.ts';
import { scratch } from '../../skills/registry/support.ts';
import { openIndex, openRegistry, wheel } from './package-index.ts';
import { openAllLayers } from '../../../src/sandbox/environments/packages.ts';
import { BASE, BLOCK, PACKAGES, READER, SCRIPT, failedWith, open } from './package-session.ts';
import { needs } from '../../needs.ts';
import { buildLayout, copyOriginals, runtimeLayouts } from '../../sandbox/runtime-layouts.ts';

describe('packages of a script', needs('bubblewrap', 'pip'), () => {
  verifies('ENV-1', 'are installed with what they need, recorded, and used again without a request', async () => {
    const index = await openIndex(PACKAGES);
    const first = await open({ index: index.url, packages: { with: ['pdf_reader'] } });
    const ran = await first.run();
    expect(ran).toMatchObject({
      type: 'program-ran',
      result: {
        exit_code: 0,
        stdout: 'value 42\ntool 42\n',
        packages: [{ ecosystem: 'python', packages: ['base-lib 1.4', 'pdf-reader 2.1'] }],
      },
    });
    expect(index.requests.toSorted()).toEqual(
      ['/simple/pdf-reader/', `/files/${READER.file}`, '/simple/base-lib/', `/files/${BASE.file}`].toSorted(),
    );
    // A person who names a package need not approve it again; the record says so.
    expect(
      first.events.flatMap((event) => (event.type === 'decision' ? [event.decision.tool, event.decision.effect] : [])),
    ).toEqual(['run_script', 'allow', 'install_packages', 'allow']);
    const used = ran.type === 'program-ran' ? ran.result.packages : undefined;
    const count = index.requests.length;
    index.close();
    const again = await open({ home: first.home, packages: { with: ['pdf_reader'], isOffline: true } });
    const second = await again.run();
    expect(second).toMatchObject({ type: 'program-ran', result: { exit_code: 0, packages: used } });
    expect(index.requests).toHaveLength(count);
    const other = await open({ home: first.home, packages: { with: ['base-lib'], isOffline: true } });
    expect(failedWith(await other.run())).toEqual({
      code: 'packages/unavailable',
      message: 'base-lib is not installed, and --offline allows no network',
    });
  });

  test('a wrong hash, a source distribution and an unknown name are refused', async () => {
    const bad = { ...READER, hash: '0'.repeat(64) };
    const source = { file: 'only-source-1.0.tar.gz', bytes: new Uint8Array([1]) };
    const index = await openIndex({ 'pdf-reader': [bad], 'only-source': [source] });
    const outcomes = await Promise.all(
      ['pdf-reader', 'only-source', 'never-heard-of'].map(async (name) =>
        failedWith(await (await open({ index: index.url, packages: { with: [name] } })).run()),
      ),
    );
    const place = `${index.url}/simple`;
    expect(outcomes).toEqual([
      {
        code: 'packages/unavailable',
        message: `a downloaded package does not have the hash that ${place} states; nothing was installed`,
      },
      {
        code: 'packages/unavailable',
        message: `"only-source" has no wheel for this Python in ${place}; a source distribution is not accepted, because it runs code when it is built`,
      },
      { code: 'packages/unavailable', message: `${place} has no package "never-heard-of" for this Python` },
    ]);
    expect(index.requests).not.toContain(`/files/${source.file}`);
  });

  test('the installation reaches the configured index only, and a granted host of its files', async () => {
    const files = await openIndex(PACKAGES);
    const index = await openIndex({ 'base-lib': [{ ...BASE, origin: files.url }] });
    const refused = await open({ index: index.url, packages: { with: ['base-lib'] } });
    expect(failedWith(await refused.run())).toEqual({
      code: 'packages/unavailable',
      message: `${index.url}/simple refers to files at ${new URL(files.url).host}, which the installation may not reach`,
    });
    expect(files.requests).toEqual([]);
    const host = `private://${new URL(files.url).host}`;
    const granted = await open({ index: index.url, packages: { with: ['base-lib'], hosts: [host] } });
    expect(await granted.run()).toMatchObject({
      type: 'program-ran',
      result: { packages: [{ packages: ['base-lib 1.4'] }] },
    });
  });

  test('a .pth file runs with programs in the sandbox and never on the host', async () => {
    const marker = path.join(scratch(), 'ran-on-the-host');
    const hook = wheel('hooked', '1.0', {
      'hooked.py': 'X = 1\n',
      'hooked.pth': `import os; os.environ.get("OUTPUT_DIR") and open(os.environ["OUTPUT_DIR"] + "/hook", "w").close(); os.path.isdir(${JSON.stringify(path.dirname(marker))}) and open(${JSON.stringify(marker)}, "w").close()\n`,
    });
    const index = await openIndex({ hooked: [hook] });
    const { run, home } = await open({
      index: index.url,
      files: { 'use.py': 'import hooked\nprint(hooked.X)\n' },
      packages: { with: ['hooked'] },
    });
    expect(await run()).toMatchObject({ result: { exit_code: 0, output_files: [{ name: 'out/hook' }] } });
    const again = await open({ home, packages: { with: ['hooked'] } });
    await Promise.all(openAllLayers(again.runtime.executionPlaces).map((store) => store.list()));
    expect(existsSync(marker)).toBe(false);
  });

  test('a question shows the exact versions, and its answer is bound to them and to the skill', async () => {
    const asked: ApprovalRequest[] = [];
    const approve: Approve = (request) => {
      asked.push(request);
      return Promise.resolve({ verdict: 'no', scope: 'once', by: 'callback' });
    };
    const index = await openIndex(PACKAGES);
    const model = await open({ index: index.url, files: { 'use.py': BLOCK }, approve });
    expect(failedWith(await model.run('use.py', 'model'))).toEqual({
      code: 'approval/refused',
      message: 'a person refused install_packages',
    });
    expect(asked).toMatchObject([
      {
        tool: 'install_packages',
        risk: 'medium',
        skill: { name: 'reader' },
        detail: {
          kind: 'packages',
          requested: ['pdf-reader>=2'],
          packages: [
            expect.stringMatching(/^base-lib 1\.4 sha256:[0-9a-f]{64}$/),
            expect.stringMatching(/^pdf-reader 2\.1 sha256:/),
          ],
        },
      },
    ]);
    const newer = await openIndex({
      ...PACKAGES,
      'base-lib': [wheel('base_lib', '1.5', { 'base_lib.py': 'VALUE = 43\n' })],
    });
    const later = await open({ index: newer.url, home: model.home, approve });
    await later.run('use.py', 'model');
    expect(asked[1]?.coverage).not.toBe(asked[0]?.coverage);
    expect(
      existsSync(path.join(model.home, 'skillwright-0/layers'))
        ? readdirSync(path.join(model.home, 'skillwright-0/layers'))
        : [],
    ).toEqual([]);
  });

  test('a rule denies packages before the index is asked', async () => {
    const index = await openIndex(PACKAGES);
    const denied = await open({
      index: index.url,
      packages: { with: ['pdf-reader'] },
      policy: { deny: ['install_packages(pdf-*)'] },
    });
    expect(failedWith(await denied.run())).toMatchObject({ code: 'policy/denied' });
    expect(index.requests).toEqual([]);
  });

  test('a list for the whole skill is installed for scripts that import something, and its failure is a warning', async () => {
    const index = await openIndex(PACKAGES);
    const files = { 'requirements.txt': 'pdf-reader\n', 'use.py': SCRIPT, 'plain.py': 'print("plain")\n' };
    const { run } = await open({ index: index.url, files });
    expect(await run('plain.py')).toMatchObject({ result: { stdout: 'plain\n' } });
    expect(index.requests).toEqual([]);
    expect(await run()).toMatchObject({ result: { exit_code: 0, stdout: 'value 42\ntool 42\n' } });
    const gone = await open({ files });
    const ran = await gone.run();
    expect(ran).toMatchObject({ type: 'program-ran', result: { exit_code: 1 } });
    expect(
      ran.type === 'program-ran' &&
        ran.result.warnings.some((line) =>
          line.startsWith('pdf-reader of requirements.txt is not installed: the package index'),
        ),
    ).toBe(true);
  });

  test('Node packages resolve for import and require, and no script of a package runs', async () => {
    const marker = 'ran-a-script';
    const registry = await openRegistry({
      'paper-lib': {
        version: '9.0.1',
        needs: { 'paper-core': '^1.0.0' },
        files: {
          'index.js': "module.exports = { value: require('paper-core').value };\n",
          'package.json': JSON.stringify({
            main: 'index.js',
            scripts: { postinstall: `touch ${marker}` },
            hasInstallScript: true,
          }),
        },
      },
      'paper-core': { version: '1.2.0', files: { 'index.js': 'exports.value = 7;\n' } },
    });
    const files = {
      'use.mjs': "import lib from 'paper-lib';\nconsole.log('module', lib.value);\n",
      'use.cjs': "console.log('common', require('paper-lib').value);\n",
    };
    const { run, home } = await open({ registry: registry.url, files, packages: { with: ['npm:paper-lib@9'] } });
    expect(await run('use.mjs')).toMatchObject({
      result: {
        exit_code: 0,
        stdout: 'module 7\n',
        packages: [{ ecosystem: 'node', packages: ['paper-core 1.2.0', 'paper-lib 9.0.1'] }],
      },
    });
    expect(await run('use.cjs')).toMatchObject({ result: { exit_code: 0, stdout: 'common 7\n' } });
    const layers = readdirSync(path.join(home, `skillwright-${String(process.getuid?.() ?? 0)}`, 'layers'), {
      recursive: true,
    });
    expect(layers.filter((file) => String(file).includes(marker))).toEqual([]);
    const unknown = await open({ registry: registry.url, files, packages: { with: ['npm:never-heard-of'] } });
    expect(failedWith(await unknown.run('use.mjs'))).toEqual({
      code: 'packages/unavailable',
      message: `the script needs npm:never-heard-of (--with): ${registry.url}/ has no package "never-heard-of"`,
    });
  });

  test('a virtual environment of the user is used where the sandbox can run it, and refused with the reason where not', async () => {
    const files = { 'use.py': 'import sys, own\nprint(own.X, sys.prefix)\n' };
    const { home } = await open({ files });
    const good = path.join(home, 'good');
    execFileSync('/usr/bin/python3', ['-m', 'venv', '--without-pip', good]);
    const site = readdirSync(path.join(good, 'lib'))[0] ?? '';
    writeFileSync(path.join(good, 'lib', site, 'site-packages', 'own.py'), 'X = 5\n');
    const using = await open({ home, packages: { venv: good } });
    expect(await using.run()).toMatchObject({ result: { exit_code: 0, stdout: `5 ${good}\n` } });

    // The base was removed.
    const bad = path.join(home, 'bad');
    mkdirSync(path.join(bad, 'bin'), { recursive: true });
    writeFileSync(path.join(bad, 'pyvenv.cfg'), `home = ${home}/versions/3.99/bin\n`);
    symlinkSync(`${home}/versions/3.99/bin/python3`, path.join(bad, 'bin', 'python3'));
    const refused = await open({ home, packages: { venv: bad } });
    expect(failedWith(await refused.run())).toEqual({
      code: 'packages/unavailable',
      message: expect.stringContaining(`its base interpreter "${home}/versions/3.99/bin" is not visible there`),
    });
    const none = await open({ home, packages: { venv: path.join(home, 'skills') } });
    expect(failedWith(await none.run())).toEqual({
      code: 'packages/unavailable',
      message: `"${home}/skills" is not a virtual environment: it has no pyvenv.cfg`,
    });
  });

  test('a virtual environment whose base is in the home folder runs, and sees nothing else of that folder', async () => {
    const script = [
      'import os, sys, own',
      'tried = [os.path.join(os.path.dirname(os.__file__), "site-packages/token"), os.path.dirname(sys.prefix) + "/.ssh/id_ed25519"]',
      'print(own.X, os.path.realpath(os.__file__), [file for file in tried if os.path.exists(file)])',
    ].join('\n');
    const { home } = await open({ files: { 'use.py': script } });
    const originals = path.join(home, 'originals');
    mkdirSync(originals);
    const name = path.basename(realpathSync('/usr/bin/python3'));
    const uv = runtimeLayouts(name).find((layout) => layout.name === 'uv');
    if (uv === undefined) throw new Error('no layout of uv');
    buildLayout(home, uv, copyOriginals(originals, '/usr/bin/python3'));
    const base = path.dirname(path.dirname(uv.executable));
    writeFileSync(path.join(home, uv.library, 'site-packages/token'), '');
    // uv names the folder of a minor version, which is a link to an installation.
    symlinkSync(path.basename(base), path.join(home, path.dirname(base), 'minor'));
    const venv = path.join(home, 'venv');
    const site = path.join(venv, 'lib', name, 'site-packages');
    mkdirSync(path.join(venv, 'bin'), { recursive: true });
    mkdirSync(site, { recursive: true });
    writeFileSync(path.join(site, 'own.py'), 'X = 5\n');
    const minor = path.join(home, path.dirname(base), 'minor/bin');
    writeFileSync(path.join(venv, 'pyvenv.cfg'), `home = ${minor}\n`);
    symlinkSync(path.join(minor, name), path.join(venv, 'bin/python'));
    symlinkSync('python', path.join(venv, 'bin/python3'));
    const using = await open({ home, packages: { venv } });
    const ran = await using.run();
    const library = path.join(path.dirname(minor), 'lib', name);
    expect(ran).toMatchObject({ result: { exit_code: 0, stdout: `5 ${library}/os.py []\n` } });
  });

  test('the file of a project chooses none for a skill that is not its own', async () => {
    const index = await openIndex(PACKAGES);
    const { home } = await open({ files: { 'use.py': 'print("ran")\n' } });
    mkdirSync(path.join(home, '.agent'));
    const packages = {
      environments: { theirs: ['pdf-reader'] },
      skills: { reader: 'theirs', 'option/reader': 'theirs' },
    };
    writeFileSync(path.join(home, '.agent/config.json'), JSON.stringify({ packages }));
    const { run, runtime } = await open({ home, index: index.url });
    expect(runtime.diagnostics.map(({ message }) => message)).toEqual([
      '"packages.skills.option/reader" names a skill that is not of the project',
    ]);
    expect(await run()).toMatchObject({ result: { exit_code: 0, stdout: 'ran\n' } });
    expect(index.requests).toEqual([]);
  });

  test('a named environment of the configuration, from a folder of wheels and without a network', async () => {
    const first = await open({});
    const wheels = path.join(first.home, 'wheels');
    mkdirSync(wheels);
    for (const { file, bytes } of [READER, BASE]) writeFileSync(path.join(wheels, file), bytes);
    const config = { packages: { environments: { reading: ['pdf-reader'] }, skills: { reader: 'reading' } } };
    const { run } = await open({ home: first.home, config, packages: { wheels } });
    expect(await run()).toMatchObject({ result: { exit_code: 0, stdout: 'value 42\ntool 42\n' } });
    await expect(open({ home: first.home, config, packages: { environment: 'writing' } })).rejects.toThrow(
      'there is no environment "writing"',
    );
  });
});
