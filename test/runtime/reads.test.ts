import { writeFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';

import { verifies } from '../conformance/verifies.ts';
import { built, runModule, scratch } from '../skills/registry/support.ts';

/** Counts, below everything of ours, how many bytes of each file a process really reads. */
const COUNTED = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const files = new Map();
const bytes = {};
const count = (name, read) => { if (name?.startsWith(process.argv[1])) bytes[name.slice(process.argv[1].length + 1)] = (bytes[name.slice(process.argv[1].length + 1)] ?? 0) + read; };
const { openSync, readSync, readFileSync, closeSync } = fs;
fs.openSync = (...args) => { const fd = openSync(...args); files.set(fd, fs.readlinkSync('/proc/self/fd/' + fd)); return fd; };
fs.readSync = (fd, ...args) => { const read = readSync(fd, ...args); count(files.get(fd), read); return read; };
fs.closeSync = (fd) => { files.delete(fd); return closeSync(fd); };
for (const name of ['readFile', 'createReadStream', 'read', 'readv', 'readvSync']) fs[name] = () => { throw new Error(name + ' is not counted'); };
fs.readFileSync = (file, ...args) => { const data = readFileSync(file, ...args); count(typeof file === 'number' ? files.get(file) : String(file), Buffer.byteLength(data)); return data; };
for (const name of ['readFile', 'open']) {
  const plain = fs.promises[name];
  fs.promises[name] = (file, ...args) => {
    if (String(file).startsWith(process.argv[1])) throw new Error('promises are not counted');
    return plain(file, ...args);
  };
}
syncBuiltinESMExports();
const { openSkillTools } = await import(process.argv[2]);
const skills = await openSkillTools({ runtime: { cwd: process.argv[1], home: undefined, env: {}, roots: [process.argv[1]], onlyRoots: true, cache: false } });
const steps = { start: { ...bytes } };
for (const [name, tool, input] of [
  ['search', 'search_skills', { query: 'does alpha' }],
  ['load', 'load_skill', { skill: 'alpha' }],
  ['file', 'read_resource', { skill: 'alpha', path: 'references/one.md' }],
]) {
  for (const file of Object.keys(bytes)) delete bytes[file];
  const { isError, text } = await skills.call(tool, input);
  if (isError) throw new Error(text);
  steps[name] = { ...bytes };
}
console.log(JSON.stringify(steps));
`;

verifies(
  ['DISC-5', 'REG-3'],
  'until a skill is loaded no byte of a body is read, then that body alone, then that file alone, by a count of the reads',
  () => {
    if (process.platform !== 'linux') {
      console.log('skipped: the count needs /proc/self/fd');
      return;
    }
    const root = scratch();
    const body = 'secret body\n'.repeat(500);
    for (const name of ['alpha', 'beta', 'gamma']) {
      mkdirSync(path.join(root, name, 'references'), { recursive: true });
      // Frontmatter of exactly one block: whatever is read beyond it is body.
      const head = (padding: number): string =>
        `---\nname: ${name}\ndescription: Does ${name}. Use it to test.${'x'.repeat(padding)}\n---\n`;
      writeFileSync(path.join(root, name, 'SKILL.md'), head(1024 - head(0).length) + body);
      writeFileSync(path.join(root, name, 'references/one.md'), '# One\n');
    }
    const steps: unknown = JSON.parse(runModule(COUNTED, [root, built('tools.js')]));
    expect(steps).toEqual({
      start: { 'alpha/SKILL.md': 1024, 'beta/SKILL.md': 1024, 'gamma/SKILL.md': 1024 },
      search: {},
      load: { 'alpha/SKILL.md': 1024 + body.length },
      file: { 'alpha/references/one.md': 6 },
    });
  },
);
