/** A project with everything that the console shows, and a server for it. */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { storedEvaluations } from '../../src/evals/project/stored-evaluations.ts';
import { saveReport } from '../../src/evals/project/report-folder.ts';
import type { CheckResult } from '../../src/evals/report/result.ts';
import type { Model, ModelRequest } from '../../src/core/model.ts';
import { createRun } from '../../src/journal/journal-writer.ts';
import { createRuntime } from '../../src/packs/open-runtime.ts';
import { openApprovals } from '../../src/policy/approval/approver.ts';
import { pendingFolder } from '../../src/policy/approval/pending-approvals.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import { createRunServer, type RunServer, type RunServerOptions } from '../../src/server/run-server.ts';
import type { Answers } from '../../src/server/api/index.ts';
import { answerOf, type Line } from '../agent/support.ts';
import { HOSTILE } from '../evals/hostile-report.ts';
import { TRIGGER, check, report, result } from '../evals/sample-report.ts';
import { PROJECT } from '../files-below.ts';
import { writeSkill } from '../skills/registry/support.ts';

const PAGE_FOLDER = path.join(PROJECT, 'dist/console');
const HOSTILE_TEXT =
  '</script><script>document.title="XSS"</script><img src=x onerror="document.title=\'XSS\'"> [link](javascript:document.title="XSS") \u001B[31mred \u202Egnp.exe';

export const ROWS = 10_000;
export const EVENTS = 5_000;

export interface ConsoleWorld {
  readonly root: string;
  readonly project: string;
  readonly home: string;
  readonly runtime: Runtime;
  readonly options: RunServerOptions;
  readonly server: RunServer;
  readonly close: () => Promise<void>;
}

const TIDY_SKILLS = [
  [
    'api-review',
    'Reviews HTTP APIs for naming, status codes and versions. Use it for OpenAPI files and pull requests.',
  ],
  ['brand-voice', 'Rewrites text in the voice of the company. Use it for announcements and landing pages.'],
  ['contract-check', 'Finds unusual clauses in contracts. Use it before a contract is signed.'],
  ['incident-notes', 'Turns a chat log of an incident into a timeline with open questions.'],
  ['invoice-reader', 'Reads amounts, dates and tax of invoices in PDF files. Use it for bookkeeping.'],
  ['meeting-minutes', 'Writes minutes with decisions and owners from a transcript.'],
  ['sql-tuning', 'Explains query plans and proposes indexes. Use it when a query of PostgreSQL is slow.'],
  ['unit-tests', 'Writes unit tests in the style of the project. Use it for code without tests.'],
] as const;

/** The answers of the model by the number of answers so far, chosen by the request. */
const COURSES: readonly (readonly [word: string, lines: readonly Line[]])[] = [
  [
    'changelog',
    [
      {
        calls: [
          [
            'update_plan',
            {
              goal: 'Write the notes of the release',
              steps: [
                { id: '1', title: 'Read the changelog', status: 'in_progress' },
                { id: '2', title: 'Write the notes', status: 'pending' },
              ],
            },
          ],
          ['load_skill', { skill: 'release-notes' }],
        ],
      },
      { calls: [['read_file', { path: 'CHANGELOG.md' }]] },
      { calls: [['write_file', { path: 'NOTES.md', content: '# Notes\n\n- A faster search\n- Two fixes\n' }]] },
      {
        text: '## Done\n\nThe notes are in `NOTES.md`:\n\n- A **faster** search\n- Two fixes\n\n| part | changes |\n|---|---|\n| search | 1 |\n| fixes | 2 |\n',
      },
    ],
  ],
  [
    'program',
    [
      { calls: [['run_command', { command: 'for i in 1 2 3; do echo row $i; sleep 0.3; done' }]] },
      { text: 'It printed three rows.' },
    ],
  ],
  [
    'report of sales',
    [
      {
        text: 'I look at the data first.',
        calls: [
          [
            'run_command',
            { command: "printf 'region,amount,share\\nnorth,1200,40%%\\nsouth,900,30%%\\nwest,905,30%%\\n'" },
          ],
        ],
      },
      {
        calls: [['run_command', { command: `sleep 0.2; echo '{"total":3005,"regions":{"north":1200,"south":900}}'` }]],
      },
      { calls: [['run_command', { command: 'echo "no such column: margin" >&2; exit 3' }]] },
      { calls: [['read_file', { path: 'CHANGELOG.md' }]] },
      { text: '## Sales\n\nThe **north** leads with 1,200.\n' },
    ],
  ],
  ['hostile', [{ text: [HOSTILE_TEXT, ...HOSTILE].join('\n') }]],
  ['slow', [{ text: 'This answer comes late.' }]],
  [
    'long file',
    [
      {
        calls: [
          [
            'write_file',
            { path: 'LONG.md', content: Array.from({ length: 400 }, (_, at) => `line ${String(at)}`).join('\n') },
          ],
        ],
      },
      { text: 'The file is written.' },
    ],
  ],
  ['huge', [{ text: `start ${'x'.repeat(5_000_000)}` }]],
];

const MODEL: Model = {
  id: 'sample-model',
  async call(request, { signal, onDelta }) {
    const line = nextLine(request);
    if (request.messages.some(({ content }) => content.includes('slow'))) await wait(600_000, undefined, { signal });
    const answer = answerOf({ usage: { inputTokens: 1_840, outputTokens: 96 }, ...line }, answersIn(request));
    const size = Math.max(12, Math.ceil(answer.text.length / 100));
    for (let at = 0; at < answer.text.length; at += size)
      onDelta?.({ type: 'text', text: answer.text.slice(at, at + size) });
    return answer;
  },
};

function answersIn({ messages }: ModelRequest): number {
  return messages.filter(({ role }) => role === 'assistant').length;
}

function nextLine(request: ModelRequest): Line {
  const first = request.messages.find(({ role }) => role === 'user')?.content ?? '';
  const [, lines] = COURSES.find(([word]) => first.includes(word)) ?? ['', [{ text: 'There are 42 rows.' }]];
  return lines[Math.min(answersIn(request), lines.length - 1)] ?? { text: '' };
}

interface WorldOptions {
  /** That many more skills, for lists. */
  readonly skills?: number;
  /** Without hostile and broken skills, for pictures. */
  readonly isTidy?: boolean;
}

export async function openConsoleWorld({ skills = 0, isTidy = false }: WorldOptions = {}): Promise<ConsoleWorld> {
  if (!existsSync(path.join(PAGE_FOLDER, 'index.html'))) throw new Error('the console is not built: npm run build');
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'skillwright-console-')));
  const project = path.join(root, 'project');
  const home = path.join(root, 'home');
  for (const folder of [path.join(project, '.git'), home]) mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(project, 'CHANGELOG.md'), '# Changelog\n\n- Search is faster.\n- Fix two crashes.\n');
  writeFileSync(path.join(project, 'NOTES.md'), '# Notes\n\n- Nothing yet\n');
  writeSkills(path.join(root, 'skills'), skills, isTidy);
  const runtime = await createRuntime({
    cwd: project,
    home,
    env: {},
    roots: [path.join(root, 'skills')],
    cache: false,
  });
  writeEvaluations(project);
  const { approve } = openApprovals({ home, pending: { folder: pendingFolder(home), waitMs: 600_000 } });
  let mode: 'ask' | 'edits' = 'ask';
  const options: RunServerOptions = {
    mode: {
      get name() {
        return mode;
      },
      choose: (next) => void (mode = next),
    },
    runtime,
    model: MODEL,
    reasonForModel: 'it was requested by name',
    directory: path.join(project, '.agent/runs'),
    surroundings: { cwd: project, home, env: {} },
    console: PAGE_FOLDER,
    price: (_, { inputTokens = 0, outputTokens = 0 }) => (2 * inputTokens + 10 * outputTokens) / 1_000_000,
    evaluations: storedEvaluations(project),
    agent: {
      run: {
        host: {},
        execution: { executor: 'local', artifacts: false, opens: false },
        async approve(request, asked) {
          if (mode === 'edits' && request.detail.kind === 'write')
            return { verdict: 'yes', scope: 'once', by: 'option' };
          return approve(request, asked);
        },
      },
    },
    runAgent: async (agent, live) => {
      const { runAgent } = await import('../../src/agent/agent.ts');
      const execution = { executor: 'local', artifacts: false, opens: false, ...live } as const;
      return runAgent({ ...agent, run: { ...agent.run, execution } });
    },
  };
  const server = await createRunServer(options);
  return {
    root,
    project,
    home,
    runtime,
    options,
    server,
    close: async () => {
      await server.close();
      rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    },
  };
}

function writeSkills(folder: string, more: number, isTidy: boolean): void {
  const notes = path.join(folder, 'release-notes');
  writeSkill(notes, {
    description: 'Writes release notes from a changelog and the commits since the last tag. Use it before a release.',
    fields: ['license: MIT', 'allowed-tools: Read Write Bash(git log:*)', 'metadata:', '  version: "1.4.0"'],
    body: [
      '# Release notes',
      '',
      'Read `CHANGELOG.md` first, then group the changes.',
      '',
      '1. Run `git log` since the last tag.',
      '2. Group by **feature** and *fix*.',
      '   - one line per change',
      '3. Write `NOTES.md`, see [the style](references/style.md).',
      '',
      '```sh',
      'git log --oneline v1.3.0..',
      '```',
      '',
      '> Keep it short.',
      '',
      '| group | heading |',
      '|---|---|',
      '| feature | Added |',
      '| fix | Fixed |',
      '',
    ].join('\n'),
  });
  mkdirSync(path.join(notes, 'scripts'), { recursive: true });
  mkdirSync(path.join(notes, 'references'), { recursive: true });
  writeFileSync(path.join(notes, 'scripts/group.py'), '#!/usr/bin/env python3\nprint("grouped")\n', { mode: 0o755 });
  writeFileSync(path.join(notes, 'references/style.md'), '# Style\n\nOne line per change.\n');
  writeSkill(path.join(folder, 'sales-report'), {
    description: 'Summarizes sales tables as a report with charts. Use it for CSV files with amounts and dates.',
  });
  if (isTidy) {
    for (const [name, description] of TIDY_SKILLS) writeSkill(path.join(folder, name), { description });
    return;
  }
  writeSkill(path.join(folder, 'Untidy_Name'), { name: 'Untidy_Name', description: 'Tidies notes. Use it for notes.' });
  writeSkill(path.join(folder, 'hostile'), {
    description: JSON.stringify(HOSTILE_TEXT),
    body: `# ${HOSTILE_TEXT}\n\n${HOSTILE_TEXT}\n`,
  });
  mkdirSync(path.join(folder, 'without-name'), { recursive: true });
  writeFileSync(path.join(folder, 'without-name/SKILL.md'), 'no frontmatter here\n');
  for (let at = 0; at < more; at += 1)
    writeSkill(path.join(folder, `skill-${String(at).padStart(5, '0')}`), {
      description: `Handles topic ${String(at)} of the archive. Use it when the user asks about topic ${String(at)}.`,
    });
}

/** Evaluations of two suites over time, with both arms, and a recorded run that proves a failure. */
function writeEvaluations(project: string): void {
  const save = (at: number, skill: string, failed: number): void => {
    const folder = path.join(project, `.agent/evals/2026111${String(at)}T1${skill === 'tables' ? '0' : '2'}1500`);
    mkdirSync(folder, { recursive: true });
    const run = recordRun(path.join(folder, 'runs'));
    const results = Array.from({ length: 24 }, (_, place) => {
      const number = place >> 1;
      const arm = place % 2 === 0 ? 'with' : 'without';
      const isFailed = number < (arm === 'with' ? failed : failed + 4);
      const outcome: Partial<CheckResult> = isFailed
        ? { status: 'failed', found: 'the answer has 41 rows', events: [3] }
        : {};
      return result(`case-${String(number + 1).padStart(2, '0')}`, {
        name: `Counts the rows of table ${String(number + 1)}`,
        tags: number % 3 === 0 ? ['csv', 'smoke'] : ['csv'],
        arm,
        status: isFailed ? 'failed' : 'passed',
        checks: [check('output[0]', { kind: 'outcome', asked: 'the answer contains "42 rows"', ...outcome })],
        model: { id: 'sample-model', way: 'live' },
        ...(arm === 'with' ? { run } : {}),
      });
    });
    saveReport(
      folder,
      report(results, {
        startedAt: `2026-11-1${String(at)}T1${skill === 'tables' ? '0' : '2'}:15:00.000Z`,
        skills: [{ name: skill, digest: `sha256-tree:${`0${String(failed)}`.repeat(32)}` }],
        ...(skill === 'tables' ? { trigger: TRIGGER } : {}),
      }),
    );
  };
  for (const [at, failed] of [5, 4, 2, 3, 1].entries()) save(at, 'tables', failed);
  for (const [at, failed] of [3, 2].entries()) save(at + 2, 'letters', failed);
}

function recordRun(directory: string): string {
  const run = createRun(
    directory,
    { request: 'Count the rows', version: '0', indexHash: '', index: [], policyHash: '' },
    { sync: 'none' },
  );
  run.hold({ type: 'note', message: 'read sales.csv: 41 rows' });
  run.hold({ type: 'note', message: 'the header was counted as a row' });
  run.end('done', '');
  return run.path;
}

/** A list of skills as the server answers it. */
export function manySkills({ searchParams }: URL): Answers['/skills'] {
  const offset = Number(searchParams.get('offset'));
  const skills = Array.from({ length: Math.min(100, ROWS - offset) }, (_, at): Answers['/skills']['skills'][number] => {
    const name = `skill-${String(offset + at).padStart(5, '0')}`;
    return {
      id: `user/${name}`,
      name,
      source: 'user',
      description: `Handles topic ${String(offset + at)}.`,
      state: 'auto',
      trusted: true,
      errors: 0,
      warnings: 0,
      tokens: 24,
      agents: [],
      group: '',
    };
  });
  return { skills, total: ROWS, indexHash: '' };
}

/** A run with many events, recorded like any other. */
export function recordLongRun({ options: { directory }, runtime }: ConsoleWorld): string {
  const run = createRun(
    directory,
    { request: 'a long run', version: '0', indexHash: runtime.index.indexHash, index: [], policyHash: '' },
    { sync: 'none' },
  );
  for (let at = 2; at < EVENTS; at += 1) run.hold({ type: 'note', message: `event ${String(at)}` });
  run.end('done', '');
  return run.id;
}
