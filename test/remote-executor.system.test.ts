import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { compileExamples } from './compile-examples.ts';

// examples/remote-executor as a developer would copy it: compiled, with the built package, against its server in a process of its own.
const folder = compileExamples();
const TOKEN = 'of the test';

let server: ChildProcess | undefined;
let url = '';

beforeAll(async () => {
  const child = spawn(process.execPath, [path.join(folder, 'remote-executor/server.js')], {
    env: { PATH: process.env['PATH'] ?? '', TMPDIR: folder, TOKEN },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  server = child;
  url = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString('utf8').trim()));
    child.once('exit', (code) => reject(new Error(`the server ended with ${String(code)}`)));
  });
}, 30_000);
afterAll(() => server?.kill());

/** Runs a program beside the compiled examples and parses what it prints. */
async function runProgram(name: string, text: string): Promise<unknown> {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  const { stdout } = await promisify(execFile)(process.execPath, [file], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, URL: url, TOKEN },
    timeout: 170_000,
    maxBuffer: 16 * 1024 * 1024,
  });
  return JSON.parse(stdout);
}

const processesLeave = 'the server ends groups of processes, and these leave theirs; a sandbox ends all';
const filesComeLater = 'a file that is written here while a program runs is there for the next program';
const SKIP = {
  'when its time is over, a grandchild in a session of its own is gone': processesLeave,
  'a program that leaves a daemon that holds its output open behind has ended, and that is gone too': processesLeave,
  'a program that leaves a daemon that closed everything behind has ended, and that is gone too': processesLeave,
  'a program that is cancelled is gone with all it started': processesLeave,
  'detaching ends what runs': processesLeave,
  'a program inherits no descriptor but its three streams':
    'descriptors that the server was started with are handed on',
  'a link that leaves the workspace is not collected, and is said':
    'links and pipes stay on the server, with a warning',
  'thirty-two megabytes of output are handed on and not gathered': filesComeLater,
  'output comes while the program runs': filesComeLater,
};

const SUITE = `
import { executorConformance, judgeCase } from 'skillwright/testing';
import { remoteExecutor } from './remote-executor/executor.js';
const executor = () => remoteExecutor({ url: process.env.URL, token: process.env.TOKEN });
const cases = [...executorConformance({ executor, base: './suite', skip: SKIP })];
const found = { passed: 0, skipped: {}, failed: {} };
const work = async () => {
  for (let next = cases.shift(); next !== undefined; next = cases.shift()) {
    const verdict = await judgeCase(next);
    if (verdict.type === 'passed') found.passed += 1;
    if (verdict.type === 'skipped') found.skipped[verdict.reason] = (found.skipped[verdict.reason] ?? 0) + 1;
    if (verdict.type === 'failed') found.failed[next.name] = String(verdict.error);
  }
};
await Promise.all([work(), work(), work()]);
console.log(JSON.stringify(found));
`;

interface Found {
  readonly passed: number;
  readonly skipped: Readonly<Record<string, number>>;
}

const NO_PYTHON = 'python3 is not installed';

test(
  'the executor over HTTP passes the suite but for cases that are named with their reason',
  { timeout: 180_000 },
  async () => {
    mkdirSync(path.join(folder, 'suite'));
    chmodSync(folder, 0o711);
    const base = JSON.stringify(path.join(folder, 'suite'));
    const text = SUITE.replace("'./suite'", base).replace('SKIP', JSON.stringify(SKIP));
    const { passed, skipped, ...found } = (await runProgram('suite.mjs', text)) as Found;
    const { [NO_PYTHON]: lacking = 0, ...others } = skipped;
    expect({ ...found, passed: passed + lacking, skipped: others }).toMatchInlineSnapshot(`
      {
        "failed": {},
        "passed": 101,
        "skipped": {
          "a file that is written here while a program runs is there for the next program": 2,
          "descriptors that the server was started with are handed on": 1,
          "links and pipes stay on the server, with a warning": 1,
          "no isolation": 27,
          "remote does not enforce diskBytes here": 3,
          "remote does not enforce fileBytes here": 1,
          "remote does not enforce files here": 1,
          "remote does not enforce memoryBytes here": 4,
          "remote does not enforce processes here": 1,
          "remote does not support interaction here": 10,
          "the server ends groups of processes, and these leave theirs; a sandbox ends all": 5,
        },
      }
    `);
  },
);

const LIBRARY = `
import { openSkills, memorySkills } from 'skillwright';
import { remoteExecutor } from './remote-executor/executor.js';
const count = {
  name: 'count', description: 'Counts words.', body: 'Run scripts/count.mjs.',
  files: { 'scripts/count.mjs': "import { writeFileSync } from 'node:fs'; writeFileSync('out/words.txt', '3'); console.log('3 words')" },
};
const output = [];
const executor = remoteExecutor({ url: process.env.URL, token: process.env.TOKEN });
const library = await openSkills({
  from: memorySkills([count]),
  execute: { executor, onOutput: ({ text }) => output.push(text) },
});
const chat = await library.conversation();
await chat.call('load_skill', { skill: 'count' });
const { value } = await chat.call('run_script', { skill: 'count', script: 'count.mjs' });
await library.close();
const closed = await openSkills({
  from: memorySkills([count]),
  execute: { executor: remoteExecutor({ url: process.env.URL, token: 'wrong' }) },
});
const wrong = await (await closed.conversation()).call('run_script', { skill: 'count', script: 'count.mjs' });
await closed.close();
console.log(JSON.stringify({ value, output, wrong: wrong.text }));
`;

test(
  'a conversation runs a script of a skill with it, and a wrong token is an error',
  { timeout: 60_000 },
  async () => {
    expect(await runProgram('library.mjs', LIBRARY)).toMatchInlineSnapshot(`
      {
        "output": [
          "3 words
      ",
        ],
        "value": {
          "exit_code": 0,
          "output_files": [
            {
              "digest": "sha256:4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce",
              "mime_type": "text/plain",
              "name": "out/words.txt",
              "ref": "workspace://out/words.txt",
              "size_bytes": 1,
              "truncated": false,
            },
          ],
          "primary_output": {
            "content": "3",
            "digest": "sha256:4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce",
            "mime_type": "text/plain",
            "name": "out/words.txt",
            "ref": "workspace://out/words.txt",
            "size_bytes": 1,
            "truncated": false,
          },
          "stdout": "3 words
      ",
          "warnings": [
            "the program ran without isolation",
          ],
        },
        "wrong": "programs cannot be run: SkillError: POST /workspaces is answered with 401: "wrong token". Check the address and the token of the server.",
      }
    `);
  },
);
