import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { buildIndex } from '../../../src/skills/registry/registry.ts';
import { verifies } from '../../conformance/verifies.ts';
import { built, rootsOf, runAsOrdinaryUser, runModule, scratch, writeSkill } from './support.ts';
import { needs } from '../../needs.ts';

describe('names', () => {
  test('with new lines, escapes, quotes and 255 bytes are found as they are', async () => {
    const root = scratch();
    const names = [
      'new\nline',
      'esc\u001b[31m',
      'quote"\'',
      'back\\slash',
      '中文技能',
      'x'.repeat(255),
      ' spaced ',
      '\uFFFD',
    ];
    for (const name of names) writeSkill(path.join(root, name), { name: 'fine' });
    const { all, diagnostics } = await buildIndex({ roots: rootsOf(['t', root]) });
    expect(new Set(all.map(({ dir }) => dir))).toEqual(new Set(names.map((name) => path.join(root, name))));
    for (const { message } of diagnostics) expect(message).not.toMatch(/[\n\u001b]/);
  });

  test('that are not UTF-8 are left out with a reason', async () => {
    const root = scratch();
    for (const bytes of [Buffer.of(0xff), Buffer.from([0x61, 0xc3, 0x28])]) {
      const directory = Buffer.concat([Buffer.from(`${root}/`), bytes]);
      mkdirSync(directory);
      writeFileSync(Buffer.concat([directory, Buffer.from('/SKILL.md')]), '---\nname: a\ndescription: b\n---\n');
    }
    mkdirSync(Buffer.concat([Buffer.from(`${root}/empty`), Buffer.of(0xfe)]));
    writeSkill(path.join(root, 'good'));
    const { skills, report } = await buildIndex({ roots: rootsOf(['t', root]) });
    expect(skills.map(({ name }) => name)).toEqual(['good']);
    expect(report.leftOut.map(({ path: at, code }) => [path.basename(at), code])).toEqual([
      ['a\uFFFD(', 'file/name-not-utf8'],
      ['\uFFFD', 'file/name-not-utf8'],
    ]);
  });
});

describe('files', () => {
  test('a pipe, a device behind a link and 100 MB of nothing hold nobody up', async () => {
    const root = scratch();
    for (const name of ['pipe', 'device', 'huge']) mkdirSync(path.join(root, name));
    execFileSync('mkfifo', [path.join(root, 'pipe', 'SKILL.md')]);
    execFileSync('ln', ['-s', '/dev/zero', path.join(root, 'device', 'SKILL.md')]);
    writeFileSync(path.join(root, 'huge', 'SKILL.md'), '---\nname: huge\n');
    truncateSync(path.join(root, 'huge', 'SKILL.md'), 100 * 1024 * 1024);
    const { report } = await buildIndex({ roots: rootsOf(['t', root]) });
    expect(report.leftOut.map(({ path: at, code }) => [path.relative(root, at), code])).toEqual([
      ['device/SKILL.md', 'file/link-escapes'],
      ['huge/SKILL.md', 'frontmatter/too-large'],
      ['pipe/SKILL.md', 'file/not-regular'],
    ]);
    expect(report.bytesRead).toBeLessThan(70 * 1024);
  });

  test('skills that come and go during the scan never break it', async () => {
    const root = scratch();
    for (let number = 0; number < 300; number += 1) writeSkill(path.join(root, `steady-${String(number)}`));
    const text = `
      import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
      for (let round = 0; ; round += 1) for (let n = 0; n < 20; n += 1) {
        const dir = process.argv[1] + '/flicker-' + n;
        if ((round + n) % 2) { mkdirSync(dir, { recursive: true }); writeFileSync(dir + '/SKILL.md', '---\\nname: flicker-' + n + '\\ndescription: x\\n---\\n'); }
        else rmSync(dir, { recursive: true, force: true });
      }`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', text, root], { stdio: 'ignore' });
    try {
      for (let round = 0; round < 40; round += 1) {
        const { skills, report } = await buildIndex({
          roots: rootsOf(['t', root]),
          cacheFile: path.join(root, '.cache'),
        });
        expect(skills.filter(({ name }) => name.startsWith('steady-'))).toHaveLength(300);
        const places = [
          ...skills.map(({ dir }) => dir),
          ...report.leftOut.map(({ path: at }) => at.replace(/\/SKILL\.md$/, '')),
        ];
        expect(new Set(places).size).toBe(places.length);
      }
    } finally {
      child.kill('SIGKILL');
      await new Promise((resolve) => {
        child.once('exit', resolve);
      });
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    }
  });

  test('folders that may not be entered or listed are told, and the rest is found', needs('root'), async () => {
    const root = scratch();
    chmodSync(root, 0o755);
    writeSkill(path.join(root, 'good'));
    writeSkill(path.join(root, 'closed'));
    writeSkill(path.join(root, 'unlisted', 'inner'));
    chmodSync(path.join(root, 'closed'), 0o000);
    chmodSync(path.join(root, 'unlisted'), 0o311);
    const text = `
      import { buildIndex } from './skills/registry/registry.ts';
      const index = await buildIndex({ roots: [{ source: 't', path: process.argv[2], priority: 1, explicit: true }] });
      console.log(JSON.stringify([index.skills.map(({ name }) => name), index.report.leftOut]));`;
    const output = await runAsOrdinaryUser(text, [root]);
    expect(JSON.parse(output)).toEqual([
      ['good'],
      [
        {
          path: path.join(root, 'closed', 'SKILL.md'),
          code: 'file/unreadable',
          message: 'the file cannot be read (EACCES)',
        },
        { path: path.join(root, 'unlisted'), code: 'file/unreadable', message: 'the folder cannot be listed (EACCES)' },
      ],
    ]);
  });
});

verifies(
  ['REG-3'],
  'of a skill that is not selected no byte of the body is read beyond one block, by the count of the system',
  () => {
    if (process.platform !== 'linux') {
      console.log('skipped: only Linux counts the bytes a process reads');
      return;
    }
    const root = scratch();
    const count = 200;
    let heads = 0;
    for (let number = 0; number < count; number += 1) {
      const file = writeSkill(path.join(root, `skill-${String(number)}`), { body: 'secret body\n'.repeat(90_000) });
      heads += readFileSync(file).indexOf('secret');
    }
    const other = scratch();
    writeSkill(path.join(other, 'first'));
    const text = `
    import { readFileSync } from 'node:fs';
    const { buildIndex } = await import(process.argv[1]);
    const optionsFor = (path) => ({ roots: [{ source: 't', path, priority: 1, explicit: true }] });
    // The first scan loads the code that reads frontmatter.
    await buildIndex(optionsFor(process.argv[3]));
    const options = optionsFor(process.argv[2]);
    const rchar = () => Number(/rchar: (\\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))[1]);
    const own = -rchar() + rchar();
    const before = rchar();
    const index = await buildIndex(options);
    console.log(JSON.stringify({ skills: index.skills.length, bytes: rchar() - before - own, counted: index.report.bytesRead }));`;
    const { skills, bytes, counted } = JSON.parse(runModule(text, [built('skills/registry/registry.js'), root, other]));
    expect(skills).toBe(count);
    expect(counted).toBe(count * 1024);
    // What the process read in all: the blocks, and a little for the runtime itself. The bodies are 200 MB.
    expect(bytes).toBeGreaterThanOrEqual(heads);
    expect(bytes).toBeLessThanOrEqual(counted + 4096);
  },
);

test('a scan of many skills lets others run, tells its progress and stops when asked to', async () => {
  const root = scratch();
  for (let number = 0; number < 4_000; number += 1) writeSkill(path.join(root, `s${String(number)}`));
  const roots = rootsOf(['t', root]);
  let turns = 0;
  const takeTurn = (): void => {
    turns += 1;
    next = setImmediate(takeTurn);
  };
  let next = setImmediate(takeTurn);
  const seen: number[] = [];
  await buildIndex({ roots, onProgress: ({ skills }) => seen.push(skills) });
  clearImmediate(next);
  expect(seen.length).toBeGreaterThan(0);
  expect(turns).toBeGreaterThan(0);
  expect(seen).toEqual(seen.toSorted((a, b) => a - b));

  const controller = new AbortController();
  const scan = buildIndex({
    roots,
    signal: controller.signal,
    onProgress: () => controller.abort(new Error('enough')),
  });
  await expect(scan).rejects.toThrow('enough');
});
