/** The packed package as a user gets it: what is in it, how large it is, and what works without the optional packages. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { isBuiltin } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { removeTree } from '../src/platform/fs/remove-tree.ts';
import { build } from 'esbuild';

import { OPTIONAL_PACKAGES } from '../src/platform/optional-package.ts';
import { SHARED_CACHE } from './cli/run-cli.ts';
import { verifies } from './conformance/verifies.ts';
import { PROJECT } from './files-below.ts';
import { needs, skipUnless } from './needs.ts';
import { chatAboutNumbers } from './seeds/packed/trpc-terminal.ts';

interface PackageJson {
  readonly exports: Readonly<Record<string, { readonly default?: string }>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, unknown>>;
}
interface Lock {
  readonly packages: Readonly<Record<string, { readonly dependencies?: Readonly<Record<string, string>> }>>;
}
const read = (file: string): string => readFileSync(path.join(PROJECT, file), 'utf8');
const manifest: PackageJson = JSON.parse(read('package.json'));
const doors = Object.keys(manifest.exports).filter((door) => !door.endsWith('.json'));

const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-package-'));
const modules = path.join(folder, 'node_modules');
const installed = path.join(modules, 'skillwright');
const command = path.join(installed, 'dist/command/skillwright.js');

beforeAll(() => {
  mkdirSync(installed, { recursive: true });
  mkdirSync(path.join(folder, 'home'));
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  const words = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
  execFileSync('npm', words, { cwd: PROJECT, stdio: ['ignore', 'ignore', 'inherit'], timeout: 170_000 });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
  execFileSync('tar', ['-xzf', path.join(folder, tarball), '--strip-components=1', '-C', installed]);
  for (const name of Object.keys(manifest.dependencies)) link(modules, name);
}, 300_000);
// Layers of packages are read-only, and only root could remove them as they are.
afterAll(() => removeTree(folder));

/** Links a package of the repository, with what it needs itself. */
function link(target: string, name: string): void {
  const place = path.join(target, name);
  mkdirSync(path.dirname(place), { recursive: true });
  symlinkSync(path.join(PROJECT, 'node_modules', name), place);
}

/** Starts Node in the user's project, with nothing of this environment but the path. */
async function node(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const options = {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    timeout: 290_000,
  };
  const ended = promisify(execFile)(process.execPath, [...words], options);
  ended.child.stdin?.end();
  return ended.then(
    ({ stdout, stderr }) => ({ status: 0, stdout, stderr }),
    (error: Error & Partial<Ended> & { readonly code?: number }) => ({
      status: error.code ?? -1,
      stdout: error.stdout ?? '',
      stderr: error.stderr ?? error.message,
    }),
  );
}
interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe('the size', () => {
  /** Space on disk: files take whole blocks. */
  const sizeOf = (place: string): number =>
    lstatSync(place).isDirectory()
      ? readdirSync(place).reduce((sum, name) => sum + sizeOf(path.join(place, name)), 4_096)
      : Math.ceil(lstatSync(place).size / 4_096) * 4_096;

  test('is at most 45 MB with everything that npm installs beside it', () => {
    const { packages }: Lock = JSON.parse(read('package-lock.json'));
    const needed = new Map<string, number>();
    const waiting = Object.keys(manifest.dependencies);
    for (const name of waiting) {
      const place = `node_modules/${name}`;
      if (needed.has(name)) continue;
      needed.set(name, sizeOf(path.join(PROJECT, place)));
      waiting.push(...Object.keys(packages[place]?.dependencies ?? {}));
    }
    for (const name of readdirSync(installed)) needed.set(`skillwright/${name}`, sizeOf(path.join(installed, name)));
    const rows = [...needed].toSorted(([, a], [, b]) => b - a);
    const total = rows.reduce((sum, [, size]) => sum + size, 0);
    const inMegabytes = (bytes: number): string => (bytes / 1e6).toFixed(1).padStart(5);
    const large = rows.filter(([, size]) => size > 300_000).map(([name, size]) => `${inMegabytes(size)} MB  ${name}`);
    console.log([`installed: ${inMegabytes(total).trim()} MB in ${String(needed.size)} parts`, ...large].join('\n'));
    expect(total).toBeLessThan(45e6);
  });

  test('has no source maps, tests, sources or modules outside the bundles', () => {
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
    const programs = files.filter((file) => !file.startsWith('examples/'));
    expect(programs.filter((file) => /\.(?:map|tsbuildinfo|test\.js)$|(?<!\.d)\.tsx?$/.test(file))).toEqual([]);
    expect(readdirSync(installed).toSorted()).toEqual(
      expect.not.arrayContaining(['src', 'test', 'bench', 'scripts', 'node_modules']),
    );
    expect(
      files.filter((file) => file.startsWith('dist/') && file.endsWith('.js') && file.split('/').length !== 3),
    ).toEqual(['dist/sandbox/network/forwarder.js']);
  });
});

describe('without the optional packages', () => {
  test('every door can be imported, also without a home folder', async () => {
    const names = doors.map((door) => `skillwright${door.slice(1)}`);
    const text = `for (const name of ${JSON.stringify(names)}) console.log(name, Object.keys(await import(name)).length > 0);`;
    expect(await node(['--input-type=module', '-e', text])).toEqual({
      status: 0,
      stdout: names.map((name) => `${name} true\n`).join(''),
      stderr: '',
    });
  });

  test(
    'every door can be required',
    skipUnless(process.features.require_module === true, 'Node 22.12 or newer'),
    async () => {
      const names = doors.map((door) => `skillwright${door.slice(1)}`);
      const text = `for (const name of ${JSON.stringify(names)}) console.log(name, Object.keys(require(name)).length > 0);`;
      const { stdout } = await node(['--input-type=commonjs', '-e', text]);
      expect(stdout).toBe(names.map((name) => `${name} true\n`).join(''));
    },
  );

  test('a door loads at most 50 files, and skillwright/core nothing of Node', async () => {
    const { metafile } = await build({
      absWorkingDir: installed,
      entryPoints: doors.map((door) => manifest.exports[door]?.default ?? ''),
      outdir: folder,
      bundle: true,
      splitting: true,
      platform: 'node',
      format: 'esm',
      packages: 'external',
      write: false,
      metafile: true,
      logLevel: 'error',
    });
    const loadedBy = (file: string): { readonly files: number; readonly packages: readonly string[] } => {
      const files = new Set([file]);
      const packages = new Set<string>();
      for (const loaded of files)
        for (const { path: next, kind, external } of metafile.inputs[loaded]?.imports ?? [])
          if (kind === 'import-statement') (external === true ? packages : files).add(next);
      return { files: files.size, packages: [...packages] };
    };
    const loads = doors.map((door) => ({
      door,
      ...loadedBy(`dist/lib/${path.basename(door).replace('.', 'index')}.js`),
    }));
    expect(loads.filter(({ files }) => files < 2 || files > 50)).toEqual([]);
    expect(loads.find(({ door }) => door === './core')?.packages).toEqual(['yaml']);
  });

  test('the doors share their classes, and find skills and programs of threads in the package', async () => {
    const text = `
      import { SkillError, createRuntime } from 'skillwright';
      import { createRunServer } from 'skillwright/agent';
      await createRunServer({ token: 'short' }).catch((error) => console.log(error instanceof SkillError));
      const runtime = await createRuntime({ home: undefined, cache: false });
      const [found] = await runtime.searchSkills('compare two texts', 1, { deep: true });
      console.log(found.name);
      const session = await runtime.startSession({ host: { network: false } });
      const { matches } = await session.perform({ type: 'grep', pattern: 'type', path: 'package.json' });
      console.log(matches[0].line);`;
    const stdout = 'true\ntext-diff\n1\n';
    expect(await node(['--input-type=module', '-e', text])).toEqual({ status: 0, stdout, stderr: '' });
  });

  test('the command runs an agent on the rule model', async () => {
    writeFileSync(path.join(folder, 'table.csv'), 'a,b\n1,2\n');
    const words = [command, 'run', '--json', '--model', 'rules', '--in', 'table.csv', 'What is in this CSV file?'];
    const { stdout } = await node(words, { HOME: path.join(folder, 'home'), ...SHARED_CACHE });
    expect(
      stdout.split('\n').filter((line) => line.includes('"load_skill"') && line.includes('csv-report')),
    ).not.toEqual([]);
  });

  verifies(
    'VOC-1',
    'the examples of the source documents run',
    async () => {
      for (const name of ['openseed', 'trpc', 'manusx', 'skills-agent']) {
        copyFileSync(path.join(PROJECT, `test/seeds/packed/${name}.mjs`), path.join(folder, `${name}.mjs`));
        expect(
          await node([path.join(folder, `${name}.mjs`)], { HOME: path.join(folder, 'home'), ...SHARED_CACHE }),
        ).toEqual({
          status: 0,
          stdout: '',
          stderr: '',
        });
      }
    },
    needs('python3'),
  );

  test(
    'the interactive example of trpc-agent-go runs at a terminal, with its local executor',
    needs('python3 with pty'),
    async () => {
      const { text, written } = await chatAboutNumbers(path.join(folder, 'examples/skillrun'), command);
      expect(text).toMatch(/skill_load python-math: new[^]*skill_run "python3 scripts\/fib\.py 10[^]*exit 0/);
      expect(written).toBe('0 1 1 2 3 5\n');
    },
  );

  test('the flow chart of ManusX runs to its end in a sandbox', needs('bubblewrap', 'pip'), async () => {
    copyFileSync(path.join(PROJECT, 'test/seeds/packed/manusx.mjs'), path.join(folder, 'manusx.mjs'));
    const env = { HOME: path.join(folder, 'home'), ...SHARED_CACHE };
    const ended = await node([path.join(folder, 'manusx.mjs'), '--sandbox'], env);
    expect(ended).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  test.each([
    { model: 'anthropic', variable: 'ANTHROPIC', request: 'POST /v1/messages' },
    { model: 'openai', variable: 'OPENAI', request: 'POST /responses' },
    { model: 'openai-compatible/m', variable: 'OPENAI', request: 'POST /chat/completions' },
  ])('the library of $model comes with the command: a key is enough', async ({ model, variable, request }) => {
    const requests: string[] = [];
    const server = createServer((incoming, answer) => {
      requests.push(`${incoming.method ?? ''} ${incoming.url ?? ''}`);
      answer.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"wrong key"}}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const env = {
      HOME: path.join(folder, 'home'),
      [`${variable}_API_KEY`]: 'none',
      [`${variable}_BASE_URL`]: `http://127.0.0.1:${String(port)}`,
    };
    const { stdout } = await node([command, 'run', '--json', '--model', model, 'hello'], env);
    expect(stdout).toContain('the server answered 401');
    expect(new Set(requests)).toEqual(new Set([request]));
  });

  test('skillwright mcp answers, and ends when its client closes the connection', async () => {
    const child = spawn(process.execPath, [command, 'mcp'], {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: path.join(folder, 'home') },
      stdio: ['pipe', 'pipe', 'inherit'],
      timeout: 290_000,
    });
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
    let answer = '';
    child.stdout.on('data', (chunk: Buffer) => {
      answer += chunk.toString();
      if (answer.includes('\n')) child.stdin.end();
    });
    const code = await new Promise((resolve) => void child.on('close', resolve));
    expect([code, JSON.parse(answer)]).toMatchObject([0, { id: 1, result: { serverInfo: { name: 'skillwright' } } }]);
  });

  test('the command connects to a configured MCP server', async () => {
    const home = path.join(folder, 'home-with-server');
    mkdirSync(path.join(home, '.agent'), { recursive: true });
    // The server is made of the packages of the repository.
    const server = { command: process.execPath, args: [path.join(PROJECT, 'test/mcp/demo-server.mjs')] };
    writeFileSync(path.join(home, '.agent/config.json'), JSON.stringify({ mcp_servers: { demo: server } }));
    const { status, stdout, stderr } = await node([command, 'mcp', 'check', '--json'], { HOME: home });
    expect([status, stderr, JSON.parse(stdout)]).toMatchObject([
      0,
      '',
      {
        servers: [
          { name: 'demo', tools: expect.arrayContaining([expect.objectContaining({ name: 'mcp__demo__echo' })]) },
        ],
      },
    ]);
  });

  test('skillwright/mcp says what to install', async () => {
    const text = `
      import { createRuntime } from 'skillwright';
      import { openSkillServer, openToolServers } from 'skillwright/mcp';
      const runtime = await createRuntime({ home: undefined, cache: false });
      const code = (error) => console.log(error.code, error.data.install);
      await openSkillServer({ runtime, version: '1', onWarning() {} }).catch(code);
      await openToolServers(runtime).catch(code);`;
    expect((await node(['--input-type=module', '-e', text])).stdout.split('\n')).toEqual([
      'package/missing npm install @modelcontextprotocol/server@2',
      'package/missing npm install @modelcontextprotocol/client@2',
      '',
    ]);
  });
});

test.each([
  // The command carries its own copy of the MCP packages.
  { bundle: 'command', peers: Object.keys(OPTIONAL_PACKAGES).filter((name) => !name.startsWith('@model')) },
  // Where a program loads optional packages, bundlers must not see it.
  { bundle: 'lib', peers: [] },
])('dist/$bundle imports only modules of Node, dependencies, and optional peers', async ({ bundle, peers }) => {
  const directory = path.join(installed, 'dist', bundle);
  const { metafile } = await build({
    absWorkingDir: directory,
    entryPoints: readdirSync(directory).filter((name) => name.endsWith('.js')),
    outdir: folder,
    bundle: true,
    platform: 'node',
    format: 'esm',
    // Chunks are entry points themselves. Bundled into each other, they would take minutes.
    external: ['./*'],
    packages: 'external',
    write: false,
    metafile: true,
    logLevel: 'error',
  });
  const imported = Object.values(metafile.inputs)
    .flatMap(({ imports }) => imports)
    // `<runtime>` is a helper of esbuild for `require` as a value.
    .filter(({ path: name, external }) => external === true && !/^[.<]/.test(name) && !isBuiltin(name))
    .map(({ path: name }) => name.split('/', name.startsWith('@') ? 2 : 1).join('/'));
  const unknown = [...new Set(imported)].filter((name) => !Object.hasOwn(manifest.dependencies, name));
  expect(unknown.toSorted()).toEqual(peers.toSorted());
});

test('the packages that messages name are the optional peers', () => {
  const majors = Object.entries(manifest.peerDependencies).map(([name, range]) => [name, /\d+/.exec(range)?.[0]]);
  expect(Object.fromEntries(majors)).toEqual(
    Object.fromEntries(Object.entries(OPTIONAL_PACKAGES).map(([name, { version }]) => [name, version])),
  );
  expect(Object.keys(manifest.peerDependenciesMeta).toSorted()).toEqual(Object.keys(OPTIONAL_PACKAGES).toSorted());
});

describe('the types', () => {
  const program = path.join(folder, 'program');
  const resolutions = ['node16', 'nodenext', 'bundler'];

  beforeAll(() => {
    mkdirSync(program);
    // Types of the protocol are part of the types of skillwright/mcp.
    for (const name of ['@types/node', 'undici-types', '@modelcontextprotocol/server', '@modelcontextprotocol/client'])
      link(modules, name);
    writeFileSync(path.join(program, 'package.json'), '{"type":"module"}');
    writeFileSync(path.join(program, 'doors.ts'), readFileSync(path.join(PROJECT, 'test/package-consumer.ts')));
  });

  test('compile with TypeScript 5.4, and are correct themselves', { timeout: 300_000 }, async () => {
    // TypeScript 5.4 resolves node16 and nodenext alike, and each of them takes seconds.
    const words = [path.join(PROJECT, 'test/consumer/check-types.mjs'), program, 'nodenext', 'bundler'];
    const { stdout, stderr } = await node(words);
    expect([stdout.replaceAll(/\d+ (files|imports)/g, 'N $1'), stderr]).toEqual([
      '5.4.5 nodenext: N files, 0 problems\n5.4.5 bundler: N imports, 0 differ\n',
      '',
    ]);
  });

  test.each(resolutions)('compile with TypeScript 7 for %s', async (moduleResolution) => {
    const project = path.join(program, `tsconfig.${moduleResolution}.json`);
    const compilerOptions = {
      module: moduleResolution === 'bundler' ? 'esnext' : moduleResolution,
      moduleResolution,
      target: 'es2022',
      lib: ['es2023'],
      types: ['node'],
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: true,
      noEmit: true,
    };
    writeFileSync(project, JSON.stringify({ compilerOptions, files: ['doors.ts'] }));
    const tsc = path.join(PROJECT, 'node_modules/typescript/bin/tsc');
    expect(await node([tsc, '-p', project, '--checkers', '1'])).toEqual({ status: 0, stdout: '', stderr: '' });
  });
});
