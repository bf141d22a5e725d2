/** The MCP server over stdio, driven by the official client: the cost of a call, a list of 2,000 skills, and an idle process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { createRuntime } from '../src/runtime/runtime.ts';
import { buildSkillTools } from '../src/runtime/skill-tools.ts';
import { median } from './median.ts';
import type { BenchRow } from './row.ts';

const SKILLS = 2_000;
const FEW = 20;
const CALLS = 300;
const STARTS = 5;
const BODY = 'Read the file, then write the report.\n'.repeat(100);

export async function benchMcp({
  project,
  workDir,
}: {
  readonly project: string;
  readonly workDir: string;
}): Promise<readonly BenchRow[]> {
  const large = path.join(workDir, 'mcp');
  const small = path.join(workDir, 'mcp-small');
  makeSkills(large, SKILLS);
  makeSkills(small, FEW);

  const words = [path.join(project, 'dist/command/skillwright.js'), 'mcp', '--executor', 'none'];
  const connect = async (home: string): Promise<{ readonly client: Client; readonly pid: number }> => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: words,
      cwd: path.join(home, 'project'),
      env: { PATH: process.env['PATH'] ?? '', HOME: home },
      stderr: 'ignore',
    });
    const client = new Client({ name: 'bench', version: '1' });
    await client.connect(transport);
    return { client, pid: transport.pid ?? 0 };
  };

  const first: number[] = [];
  const whole: number[] = [];
  for (let round = 0; round < STARTS; round += 1) {
    const { client } = await connect(large);
    const skills = new SkillsClient(client);
    const started = performance.now();
    await client.request({ method: 'skills/list', params: {} }, { '~standard': ANYTHING });
    first.push(performance.now() - started);
    const from = performance.now();
    const { skills: all } = await skills.list();
    whole.push(performance.now() - from);
    if (all.length < SKILLS) throw new Error(`only ${String(all.length)} skills are listed`);
    await client.close();
  }

  // Interleaved, so that noise affects all alike.
  const runtime = await createRuntime({ cwd: path.join(large, 'project'), home: large, env: { HOME: large } });
  const run = await runtime.startRun({ request: 'bench' });
  const tools = buildSkillTools(run.session, runtime, (action, options) =>
    run.session.perform(action.type === 'load_skill' ? { ...action, again: true } : action, options),
  );
  const { client } = await connect(large);
  const pipe = openPipe();
  const times = { direct: [] as number[], served: [] as number[], pipe: [] as number[] };
  const timed = async (into: number[], work: () => Promise<unknown>): Promise<void> => {
    const started = performance.now();
    await work();
    into.push(performance.now() - started);
  };
  for (let call = 0; call < CALLS; call += 1) {
    const input = { skill: `skill-${String(call % 5)}` };
    await timed(times.direct, () => tools.call('load_skill', input));
    await timed(times.served, () => client.callTool({ name: 'load_skill', arguments: input }));
    await timed(times.pipe, () => pipe.exchange(BODY));
  }
  await client.close();
  pipe.close();
  await run.end('done');
  const few = await connect(small);
  const idle = residentMegabytes(few.pid);
  await few.client.close();
  const [direct, served, trip] = [times.direct, times.served, times.pipe].map(median);
  const bound = 2 * (direct ?? 0) + (trip ?? 0);
  const value = (served ?? 0) / bound;
  return [
    {
      name: 'tools/call of load_skill',
      value,
      unit: 'x (2 direct + pipe)',
      bound: '<= 1',
      ok: value <= 1,
      note: `${ms(served)}; direct ${ms(direct)}, pipe ${ms(trip)}`,
    },
    {
      ...row('first page of skills/list, 2,000 skills', median(first.slice(1)), 300, 'ms'),
      note: `first start ${ms(first[0])}`,
    },
    {
      ...row('all pages of skills/list, 2,000 skills', median(whole.slice(1)), 300, 'ms'),
      note: `first start ${ms(whole[0])}`,
    },
    row('idle process, 20 skills', idle, 90, 'MB'),
  ];
}

function makeSkills(home: string, count: number): void {
  for (let place = 0; place < count; place += 1) {
    const folder = path.join(home, '.agents/skills', `skill-${String(place)}`);
    mkdirSync(path.join(folder, 'references'), { recursive: true });
    writeFileSync(
      path.join(folder, 'SKILL.md'),
      `---\nname: skill-${String(place)}\ndescription: Does the work number ${String(place)}. Use when it is asked for.\n---\n\n${BODY}`,
    );
    writeFileSync(path.join(folder, 'references/guide.md'), BODY);
  }
  mkdirSync(path.join(home, 'project'));
}

function row(name: string, value: number, bound: number, unit: string): BenchRow {
  return { name, value, unit, bound: `<= ${String(bound)}`, ok: value <= bound };
}

function ms(value = Number.NaN): string {
  return `${value.toFixed(2)} ms`;
}

/** A page is only transported here. */
const ANYTHING = {
  version: 1,
  vendor: 'bench',
  validate: (value: unknown) => ({ value }),
} as const;

function residentMegabytes(pid: number): number {
  const [, kilobytes = 'NaN'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1_024;
}

/** A process that answers each line with a line of the same length: the least that a call to another process costs. */
function openPipe(): { readonly exchange: (text: string) => Promise<unknown>; readonly close: () => void } {
  const child = spawn(process.execPath, ['-e', "process.stdin.on('data', (text) => process.stdout.write(text))"], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const lines = createInterface(child.stdout);
  return {
    exchange(text) {
      const answered = once(lines, 'line');
      child.stdin.write(`${JSON.stringify(text)}\n`);
      return answered;
    },
    close: () => child.stdin.end(),
  };
}
