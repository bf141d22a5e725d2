/** Transcripts that the real agents printed, with a local mock model: see `npm run check:agents`. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { isObject } from '../../../src/core/json/json-schema.ts';
import { parseJson } from '../../../src/core/json/parse-json.ts';
import { findLoads, readInstalledSkills } from '../../../src/evals/subjects/installed-skills.ts';
import { commandSubject } from '../../../src/evals/subjects/agents/command.ts';
import { readSubject, SUBJECT_AGENTS } from '../../../src/evals/subjects/open-subjects.ts';
import { readEvent } from '../../../src/evals/subjects/run-subject.ts';
import { findProjectFolder } from '../../../src/packs/agents/agent-table.ts';
import { openTranscript, type Transcript } from '../../../src/evals/subjects/transcript.ts';
import { writeControlSkills } from '../../../src/evals/trigger/controls.ts';
import { verifies } from '../../conformance/verifies.ts';
import { PROJECT } from '../../files-below.ts';
import { scratch } from '../../skills/registry/support.ts';

const GOLDEN = path.join(PROJECT, 'test/evals/subjects/golden');

function readGolden(agent: string, file = agent): Transcript {
  const transcript = openTranscript();
  const subject = SUBJECT_AGENTS.find(({ id }) => id === agent);
  for (const line of readFileSync(path.join(GOLDEN, `${file}.jsonl`), 'utf8').split('\n')) {
    const value = parseJson(line);
    if (isObject(value) && subject !== undefined) readEvent(subject, value, transcript);
  }
  return transcript;
}

function factsOf(transcript: Transcript) {
  const { answer, turns, usage, usd, isComplete, error, offered, model } = transcript;
  transcript.endOpen();
  const calls = transcript.takeEnded().map((call) => ({
    name: call.name,
    ok: call.ok,
    loads: findLoads(call, controls()).map(({ skill, by }) => `${skill} by ${by}`),
  }));
  return { answer, turns, usage, usd, isComplete, error, offered, model, calls };
}

function controls() {
  const folder = scratch();
  writeControlSkills(folder);
  return readInstalledSkills(folder);
}

const ANSWER = 'The mock model has answered.';
const usage = { inputTokens: 360, outputTokens: 36, cachedInputTokens: 0 };
const NONE = undefined;
const DONE = { answer: ANSWER, turns: 3, usage, isComplete: true, error: NONE };

function loaded(tool: string, by: string, then: string) {
  return [
    { name: tool, ok: true, loads: [`brass-lantern-check by ${by}`] },
    { name: then, ok: true, loads: [] },
  ];
}

describe('the transcript of a run that loads a skill, writes a file and answers', () => {
  verifies('EVAL-13', 'gives the same facts for every agent', () => {
    const found = Object.fromEntries(SUBJECT_AGENTS.map(({ id }) => [id, factsOf(readGolden(id))]));
    const claude = { ...DONE, usd: 0.00162, offered: ['brass-lantern-check'], model: 'claude-sonnet-4-5' };
    const plain = { ...DONE, usd: NONE, offered: NONE };
    expect(found).toEqual({
      'claude-code': { ...claude, calls: loaded('Skill', 'tool', 'Write') },
      codex: { ...plain, model: '', calls: loaded('command_execution', 'read', 'command_execution') },
      gemini: { ...plain, model: 'gemini-2.5-pro', calls: loaded('activate_skill', 'tool', 'write_file') },
      opencode: { ...plain, usd: expect.closeTo(0.00162, 8), model: '', calls: loaded('skill', 'tool', 'write') },
      pi: {
        ...plain,
        usd: expect.closeTo(0.00162, 8),
        model: 'claude-sonnet-4-5',
        calls: loaded('read', 'read', 'write'),
      },
    });
  });

  test('is a failure where the server refused the key, whatever the agent ended with', () => {
    const found = SUBJECT_AGENTS.map(({ id }) => {
      const { error, answer, isComplete } = readGolden(id, `${id}-401`);
      return [id, isComplete, error ?? '', id === 'claude-code' ? '' : answer];
    });
    expect(found).toEqual([
      ['claude-code', true, expect.stringContaining('Invalid API key'), ''],
      ['codex', true, expect.stringContaining('401 Unauthorized'), ''],
      ['gemini', true, expect.stringContaining('invalid x-api-key'), ''],
      ['opencode', true, expect.stringContaining('invalid x-api-key'), ''],
      ['pi', true, expect.stringContaining('invalid x-api-key'), ''],
    ]);
  });

  test('is a failure where no server answered, although both end with `success` or exit code 0', () => {
    const found = ['claude-code', 'pi'].map((id) => readGolden(id, `${id}-dead`).error);
    expect(found).toEqual(['API Error: Unable to connect to API (ConnectionRefused)', 'Connection error.']);
  });
});

describe('a transcript is untrusted', () => {
  const HOSTILE: readonly unknown[] = [
    {},
    { type: 'result' },
    { type: 'assistant', message: { content: 'text' } },
    { type: 'assistant', message: { id: 7, content: [7, undefined, { type: 'tool_use' }] } },
    { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 'unknown', content: [[]] }] } },
    { type: 'item.completed', item: { type: 7 } },
    { type: 'item.completed', item: { type: 'command_execution', id: {}, exit_code: '0' } },
    { type: 'turn.completed', usage: { input_tokens: 'many', output_tokens: Infinity } },
    { type: 'tool_use', tool_id: [], parameters: 'x', part: { state: 7 } },
    { type: 'tool_result', status: {} },
    { type: 'step_finish', part: { tokens: { cache: [] }, cost: -1 } },
    { type: 'message_end', message: { role: 'assistant', content: { text: 1 }, usage: [] } },
    { type: 'error', error: 'x' },
    { __proto__: { type: 'result' }, type: 'toString' },
  ];

  test('values of any other shape are read without an exception and give numbers', () => {
    for (const agent of [...SUBJECT_AGENTS, commandSubject('./agent')]) {
      const transcript = openTranscript();
      for (const event of HOSTILE) if (isObject(event)) readEvent(agent, event, transcript);
      const { inputTokens = 0, outputTokens = 0 } = transcript.usage ?? {};
      expect([agent.id, Number.isFinite(inputTokens + outputTokens + (transcript.usd ?? 0))]).toEqual([agent.id, true]);
    }
  });
});

describe('a skill counts as loaded', () => {
  const call = (name: string, input: object, output = '', ok = true) =>
    findLoads({ name, input, ok, output }, controls());
  const FILE = '/run/project/.agents/skills/brass-lantern-check/SKILL.md';

  test('when its SKILL.md was read, or its instructions are in an output', () => {
    const read = [{ skill: 'brass-lantern-check', by: 'read' }];
    expect(call('read', { path: FILE })).toEqual(read);
    expect(call('command_execution', { command: `sed -n '1,200p' ${FILE}` })).toEqual(read);
    const output = '---\nname: x\n---\n\n# brass-lantern-check\n\nThis skill is a control';
    expect(call('bash', { command: 'cd .agents/skills/* && python3 show.py' }, output)).toEqual([
      { skill: 'brass-lantern-check', by: 'body' },
    ]);
  });

  test('not when it was only listed, written, described or could not be read', () => {
    expect([
      call('bash', { command: `ls -l ${FILE}` }, FILE),
      call('write', { path: FILE, content: 'x' }),
      call('read', { path: FILE }, 'permission denied', false),
      call('bash', { command: 'grep -r description .' }, 'description: Reports the state of a brass lantern'),
    ]).toEqual([[], [], [], []]);
  });
});

describe('--subject', () => {
  test('is an agent, an agent with a model, a command, or unknown', () => {
    const read = ['codex', 'pi=anthropic/claude-x=1', 'skillwright=rules', './agent --fast', 'claude', 'codex='].map(
      (word) => {
        const reading = readSubject(word);
        return reading.type === 'unknown' ? reading : [reading.agent?.id, reading.model];
      },
    );
    expect(read).toEqual([
      ['codex', undefined],
      ['pi', 'anthropic/claude-x=1'],
      [undefined, 'rules'],
      ['./agent --fast', undefined],
      { type: 'unknown', name: 'claude' },
      ['codex', undefined],
    ]);
  });

  test('installs skills only where the agent reads them', () => {
    expect(SUBJECT_AGENTS.map((agent) => `${agent.id} ${findProjectFolder(agent.listedAs ?? agent.id)}`)).toEqual([
      'claude-code .claude/skills',
      'codex .agents/skills',
      'gemini .agents/skills',
      'opencode .agents/skills',
      'pi .agents/skills',
    ]);
  });
});
