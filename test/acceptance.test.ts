/** The acceptance lines of skills-agent, each as one test over whole runs. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { describe, expect } from 'vitest';

import { verifyRun } from '../src/journal/verify.ts';
import { exitOf } from '../src/evals/report/verdict.ts';
import type { ApprovalAnswer, ApprovalRequest } from '../src/core/approval.ts';
import { readCases } from '../src/evals/cases/read-cases.ts';
import { evaluate } from '../src/evals/evaluate.ts';
import { skillFoldersIn } from '../src/evals/cases/suite.ts';
import type { AgentResult } from '../src/agent/agent-options.ts';
import { createRuntime } from '../src/runtime/runtime.ts';
import { verifies } from './conformance/verifies.ts';
import { packWorld } from './packs/support.ts';
import { acting, allText, eventsOf, ofType, played, world } from './agent/support.ts';

const BODY = 'canary-body-of';
const RESOURCE = 'canary-resource-of';

/** Each skill has a body and a resource that can be told from every other text. */
function skill(name: string, fields: readonly string[] = []) {
  return {
    description: `Works on ${name}. Use it for ${name}.`,
    fields,
    body: `# ${name}\n\n${BODY}-${name}. See references/guide.md, run scripts/go.sh.\n`,
    files: {
      'references/guide.md': `# Guide\n\n${RESOURCE}-${name}\n`,
      'scripts/go.sh': '#!/bin/sh\necho "it went"\n',
    },
  };
}

const SKILLS = { tables: skill('tables'), letters: skill('letters') };

const select = acting('select_skills', { skills: [{ name: 'tables' }], reason: 'it fits' });
const answer = acting('final_answer', { answer: 'done' });
const run = acting('run_script', { skill: { name: 'tables' }, relative_path: 'scripts/go.sh', args: [] });
const read = acting('load_resource', { skill: { name: 'tables' }, relative_path: 'references/guide.md' });

/** What was decided and what came of it, an action a line. */
function outcomes(result: AgentResult): readonly string[] {
  const events = eventsOf(result);
  const decisions = new Map(ofType(events, 'decision').map(({ call, decision }) => [call, decision.effect]));
  return ofType(events, 'observation').map(({ call, observation }) => {
    const came = observation.type === 'failed' ? observation.code : observation.type;
    return `${observation.action}: ${decisions.get(call) ?? 'no decision'}, ${came}`;
  });
}

describe('acceptance', () => {
  verifies('ACC-1', 'the index and the first request hold metadata only', async () => {
    const { agent, runtime } = await world(SKILLS);
    expect(runtime.index.skills.map(({ name, description }) => [name, description])).toEqual([
      ['letters', 'Works on letters. Use it for letters.'],
      ['tables', 'Works on tables. Use it for tables.'],
    ]);
    expect(JSON.stringify(runtime.index)).not.toContain('canary');
    const model = played([answer]);
    const result = await agent({ model, protocol: 'actions' });
    const [first] = model.requests;
    const told = allText(first ?? expect.fail());
    for (const name of ['letters', 'tables']) expect(told).toContain(`Works on ${name}. Use it for ${name}.`);
    expect(told).not.toContain('canary');
    expect(readFileSync(path.join(result.path ?? '', 'index.json'), 'utf8')).not.toContain('canary');
    expect(verifyRun(result.path ?? '').status).toBe('intact');
  });

  verifies('ACC-2', 'only the body of the triggered skill is loaded', async () => {
    const { agent } = await world(SKILLS);
    const model = played([select, answer]);
    const result = await agent({ model, protocol: 'actions' });
    const [before, after] = model.requests.map(allText);
    expect(before).not.toContain(BODY);
    expect(after).toContain(`${BODY}-tables`);
    expect(after).not.toContain(`${BODY}-letters`);
    expect(JSON.stringify(eventsOf(result))).not.toContain(`${BODY}-letters`);
    expect(ofType(eventsOf(result), 'activation')).toEqual([
      { type: 'activation', skill: 'option/tables', reason: 'model' },
    ]);
  });

  verifies('ACC-3', 'resource files are read only on load_resource', async () => {
    const { agent } = await world(SKILLS);
    const model = played([select, read, answer]);
    const result = await agent({ model, protocol: 'actions' });
    const [, loaded, asked] = model.requests.map(allText);
    expect(loaded).not.toContain(RESOURCE);
    expect(asked).toContain(`${RESOURCE}-tables`);
    expect(JSON.stringify(eventsOf(result))).not.toContain(`${RESOURCE}-letters`);
  });

  verifies('ACC-4', 'a zip of skills installs and works; traversal and a missing SKILL.md are refused', async () => {
    const { install, settings, root, project } = packWorld();
    const text =
      '---\nname: tables\ndescription: Works on tables. Use it for tables.\n---\n\n# Tables\n\ncanary-body-of-tables\n';
    const zip = (files: Readonly<Record<string, string>>): void =>
      writeFileSync(
        path.join(project, 'pack.zip'),
        zipSync(Object.fromEntries(Object.entries(files).map(([name, content]) => [name, strToU8(content)]))),
      );
    zip({ '../tables/SKILL.md': text });
    expect(await install('pack.zip')).toMatchObject({ code: 'archive/traversal' });
    zip({ 'tables/README.md': text });
    expect(await install('pack.zip')).toMatchObject({ code: 'pack/no-skill' });
    expect(existsSync(path.join(root, 'tables'))).toBe(false);
    zip({ 'tables/SKILL.md': text });
    expect(await install('pack.zip')).toMatchObject({ type: 'installed', isDone: true });
    const runtime = await createRuntime({ ...settings.surroundings, roots: [root], onlyRoots: true, cache: false });
    const loaded = await runtime.perform({ type: 'load_skill', skill: 'tables' });
    expect(JSON.stringify(loaded)).toContain('canary-body-of-tables');
  });

  describe('allow-lists are enforced and high-risk tools need approval', () => {
    verifies('ACC-5', 'a skill that allows only reading runs nothing', async () => {
      const { agent } = await world({ tables: skill('tables', ['allowed-tools: "read_resource"']) });
      const result = await agent({ model: played([select, run, read, answer]), protocol: 'actions' });
      expect(outcomes(result)).toEqual([
        'load_skill: allow, skill-loaded',
        'run_script: deny, policy/denied',
        'read_resource: allow, resource-read',
        'final_answer: allow, answered',
      ]);
    });

    verifies('ACC-5', 'a skill that allows running runs', async () => {
      const { agent } = await world({ tables: skill('tables', ['allowed-tools: "run_script"']) });
      const result = await agent({ model: played([select, run, answer]), protocol: 'actions' });
      expect(outcomes(result)).toContain('run_script: allow, program-ran');
    });

    verifies('ACC-5', 'a file is written only after approval of exactly these bytes', async () => {
      const { agent, project } = await world(SKILLS);
      const write = acting('write_file', { path: 'report.md', content: 'hello' });
      const file = path.join(project, 'report.md');
      const nobody = await agent({ model: played([write, answer]), protocol: 'actions', run: { host: {} } });
      expect([outcomes(nobody)[0], existsSync(file)]).toEqual(['write_file: ask, approval/needed', false]);
      const questions: ApprovalRequest[] = [];
      const answering = (verdict: ApprovalAnswer['verdict']) => (request: ApprovalRequest) => {
        questions.push(request);
        return Promise.resolve({ verdict, scope: 'once', by: 'callback' } as const);
      };
      const asked = (verdict: ApprovalAnswer['verdict']): Promise<AgentResult> =>
        agent({
          model: played([write, answer]),
          protocol: 'actions',
          run: { host: {}, approve: answering(verdict) },
        });
      expect([outcomes(await asked('no'))[0], existsSync(file)]).toEqual(['write_file: ask, approval/refused', false]);
      expect([outcomes(await asked('yes'))[0], readFileSync(file, 'utf8')]).toEqual([
        'write_file: ask, file-written',
        'hello',
      ]);
      expect(questions.map(({ tool, risk }) => [tool, risk])).toEqual([
        ['write_file', 'high'],
        ['write_file', 'high'],
      ]);
    });
  });

  verifies(
    'ACC-6',
    'evaluations run offline on the mock model and write a report; a broken case is an error, not a verdict',
    async () => {
      const { root } = await world(SKILLS);
      const tables = path.join(root, 'skills/tables');
      mkdirSync(path.join(tables, 'evals'));
      const turns = (...lines: readonly { readonly text?: string }[]) => ({
        turns: lines.map(({ text }) => ({ text })),
      });
      const cases = [
        { id: 'loads', input: 'count', protocol: 'actions', mock: turns(select, answer), expect: { trigger: true } },
        { id: 'quiet', input: 'count', protocol: 'actions', mock: turns(answer), expect: { trigger: true } },
        { id: 'torn', input: 'count', protocol: 'actions', mock: turns(answer, answer), expect: { trigger: false } },
      ];
      writeFileSync(path.join(tables, 'evals/cases.json'), JSON.stringify({ cases }));
      const read = readCases([tables]);
      expect(read.problems).toEqual([]);
      const report = await evaluate({
        cases: read.cases,
        skills: skillFoldersIn(path.join(root, 'skills')),
        concurrency: 2,
        timeoutMs: 20_000,
        directory: path.join(root, 'evaluation'),
        executor: 'none',
        places: { base: root, cacheDir: undefined, engine: undefined },
        signal: new AbortController().signal,
      });
      expect(report.results.map(({ case: id, status, loaded }) => [id, status, loaded])).toEqual([
        ['loads', 'passed', ['tables']],
        ['quiet', 'failed', []],
        ['torn', 'error', []],
      ]);
      expect([report.models, exitOf(report)]).toEqual([[{ id: 'scripted', way: 'scripted' }], 5]);
    },
  );
});
