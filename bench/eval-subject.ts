import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import path from 'node:path';

import type { EvalCase } from '../src/evals/cases/case.ts';
import { CLAUDE_CODE } from '../src/evals/subjects/agents/claude-code.ts';
import { openSubject } from '../src/evals/subjects/open-subject.ts';
import { runSuite } from '../src/evals/run/run-suite.ts';
import { median } from './median.ts';
import type { BenchRow } from './row.ts';

const RUNS = 15;
const SKILLS = 20;
const MOST_MS = 300;

/** A stand-in that starts Node, as most agents do, and prints a transcript with one loaded skill. */
const AGENT = `#!${process.execPath}
if (process.argv[2] === '--version') console.log('1.0.0');
const say = (event) => console.log(JSON.stringify(event));
say({ type: 'system', subtype: 'init', skills: [] });
say({ type: 'assistant', message: { id: 'a', content: [{ type: 'tool_use', id: 't', name: 'Skill', input: { skill: 'skill-1' } }] } });
say({ type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 't', content: 'loaded' }] } });
say({ type: 'result', is_error: false, result: 'done', usage: { input_tokens: 1, output_tokens: 1 } });
`;

/** What an evaluation adds to a run of another agent: folders, 20 skills, the record, the grade, and the end of its processes. */
export async function benchEvalSubject({ workDir }: { readonly workDir: string }): Promise<readonly BenchRow[]> {
  const folder = path.join(workDir, 'eval-subject');
  const bin = path.join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  const program = path.join(bin, 'claude');
  writeFileSync(program, AGENT);
  chmodSync(program, 0o755);
  const skills = Array.from({ length: SKILLS }, (_, place) => {
    const dir = path.join(folder, 'skills', `skill-${String(place)}`);
    mkdirSync(dir, { recursive: true });
    const text = `---\nname: skill-${String(place)}\ndescription: Does ${String(place)}.\n---\n\n# Skill ${String(place)}\n`;
    writeFileSync(path.join(dir, 'SKILL.md'), text);
    return dir;
  });
  const { signal } = new AbortController();
  const env = { PATH: bin, ANTHROPIC_API_KEY: 'a-key-of-the-bench' };
  const subject = await openSubject({ agent: CLAUDE_CODE, env, signal });
  const run = [program, ['-p', 'x'], { env }] as const;
  const [alone, whole]: [number[], number[]] = [[], []];
  let last = performance.now();
  const { results } = await runSuite({
    cases: Array.from({ length: RUNS + 1 }, (_, place) => caseAt(place)),
    subject,
    arms: [{ arm: 'with', foldersFor: () => skills }],
    concurrency: 1,
    timeoutMs: 60_000,
    directory: path.join(folder, 'evals'),
    signal,
    // The program alone runs between two cases, because the load of a machine changes.
    onProgress() {
      const end = performance.now();
      whole.push(end - last);
      spawnSync(...run);
      last = performance.now();
      alone.push(last - end);
    },
  });
  const passed = results.filter(({ status }) => status === 'passed').length;
  const added = median(whole) - median(alone);
  return [
    {
      name: 'a run of another agent in an evaluation, over its program alone',
      value: added,
      unit: 'ms',
      bound: `<= ${String(MOST_MS)}`,
      ok: added <= MOST_MS && passed === RUNS + 1,
      note: `${median(whole).toFixed(0)} ms against ${median(alone).toFixed(0)} ms, ${String(SKILLS)} skills, ${String(passed)} passed`,
    },
  ];
}

function caseAt(place: number): EvalCase {
  return {
    id: `case-${String(place)}`,
    name: `case-${String(place)}`,
    place: { file: 'bench', line: 1, column: 1 },
    input: 'Use skill 1',
    files: [],
    skills: { target: 'skill-1', folders: [] },
    expect: { trigger: true },
    limits: {},
    forbidTools: [],
    approve: 'no',
    repeat: 1,
    tags: [],
  };
}
