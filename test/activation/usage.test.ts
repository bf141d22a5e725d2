import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { readUsage } from '#activation';
import { hintsFile, requestHash } from '../../src/activation/hint-record.ts';
import { openRandom } from '#core';
import { needs } from '../needs.ts';
import { AGENTS, openPlace, transcriptsOf, type Place } from './recorded-sessions.ts';

function usageIn(
  agent: string,
  { home, project }: Place,
  more: Partial<Parameters<typeof readUsage>[0]> = {},
): ReturnType<typeof readUsage> {
  return readUsage({
    surroundings: { cwd: project, home, env: {} },
    agents: [agent],
    since: 0,
    price: (model, { input, output }) => (model.endsWith('claude-sonnet-4-5') ? input + output : undefined),
    signal: new AbortController().signal,
    ...more,
  });
}

const LOADED = { fired: 1, started: 0, hinted: 0, hintIgnored: 0, missed: 0, unrelated: 0 };

test.each(AGENTS)('reads what %s did with skills in four sessions', async (agent) => {
  const place = openPlace(agent);
  const { agents, skills, unused } = await usageIn(agent, place);
  expect(
    agents.map(({ requests, unknown, damaged, tooLong, problems }) => ({
      requests,
      unknown,
      damaged,
      tooLong,
      problems,
    })),
  ).toEqual([{ requests: 4, unknown: 0, damaged: 0, tooLong: 0, problems: [] }]);
  const used = (name: string) => ({
    name,
    ...LOADED,
    tokens: { input: 240, output: 24 },
    ...(['claude-code', 'github-copilot'].includes(agent) ? { usd: 264 } : {}),
    ...(['opencode', 'pi'].includes(agent) ? { usd: 0.001_08 } : {}),
    agents: { [agent]: 1 },
    versions: [{ digest: expect.stringMatching(/^[0-9a-f]{12}$/), loads: 1, isInstalled: true }],
    lastUsed: '2026-11-18',
  });
  expect(skills.map((skill) => ({ ...skill, lastUsed: skill.lastUsed?.slice(0, 10) }))).toEqual([
    used('csv-report'),
    used('text-diff'),
    {
      name: 'slide-deck',
      ...LOADED,
      fired: 0,
      missed: 1,
      tokens: { input: 0, output: 0 },
      agents: {},
      versions: [],
    },
  ]);
  expect(unused).toEqual([{ agent, name: 'slide-deck', tokens: expect.any(Number) }]);
});

test.each(AGENTS)('changes nothing in the folders of %s and prints no text of a request', async (agent) => {
  const place = openPlace(agent);
  const before = filesOf(place.home);
  const usage = JSON.stringify(await usageIn(agent, place));
  expect(filesOf(place.home)).toEqual(before);
  for (const word of ['sales', 'drafts', 'joke', 'outline', 'mock model']) expect(usage).not.toContain(word);
});

function filesOf(folder: string): readonly (readonly [string, string | undefined])[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => [
      name,
      statSync(path.join(folder, name)).isFile() ? readFileSync(path.join(folder, name), 'latin1') : undefined,
    ]);
}

test.each(AGENTS)('counts the hints of %s that were followed and ignored', async (agent) => {
  const place = openPlace(agent);
  const file = hintsFile(place) ?? '';
  mkdirSync(path.dirname(file), { recursive: true });
  const quote = agent === 'opencode' ? '"' : '';
  const hint = (text: string, skills: readonly string[]): string =>
    `${JSON.stringify({ time: '2026-11-18T20:00:00Z', agent, request: requestHash(`${quote}${text}${quote}`), skills })}\n`;
  writeFileSync(
    file,
    [
      hint('Summarise my CSV file of sales', ['csv-report', 'slide-deck']),
      // Some agents run the hook twice.
      hint('Summarise my CSV file of sales', ['csv-report']),
      hint('A request of a transcript that is gone', ['text-diff']),
      'damaged\n',
    ].join(''),
  );
  const { skills } = await usageIn(agent, place);
  expect(skills.map(({ name, hinted, hintIgnored }) => ({ name, hinted, hintIgnored }))).toEqual([
    { name: 'csv-report', hinted: 1, hintIgnored: 0 },
    { name: 'text-diff', hinted: 0, hintIgnored: 0 },
    { name: 'slide-deck', hinted: 1, hintIgnored: 1 },
  ]);
});

test('does not compare a request with a SKILL.md that was changed later', async () => {
  const place = openPlace('codex');
  const file = path.join(place.project, '.agents/skills/slide-deck/SKILL.md');
  utimesSync(file, new Date('2026-11-19'), new Date('2026-11-19'));
  const { skills } = await usageIn('codex', place);
  expect(skills.map(({ name }) => name)).toEqual(['csv-report', 'text-diff']);
});

test('calls a version that differs from the installed skill by its digest', async () => {
  const place = openPlace('pi');
  appendFileSync(path.join(place.project, '.agents/skills/csv-report/SKILL.md'), '\nAnd one more step.\n');
  const { skills } = await usageIn('pi', place);
  expect(skills.map(({ name, versions }) => [name, versions.map(({ isInstalled }) => isInstalled)])).toEqual([
    ['csv-report', [false]],
    ['text-diff', [true]],
    ['slide-deck', []],
  ]);
});

test('reads only sessions of the project and of the time that are asked for', async () => {
  const place = openPlace('qwen-code');
  for (const file of transcriptsOf(place.home)) utimesSync(file, new Date('2030-01-01'), new Date('2030-01-01'));
  const other = await usageIn('qwen-code', place, { project: path.join(place.home, 'other') });
  const late = await usageIn('qwen-code', place, { since: Date.parse('2026-11-19') });
  const inside = await usageIn('qwen-code', place, { project: place.home });
  expect([other, late, inside].map(({ agents }) => agents.map(({ requests }) => requests))).toEqual([[0], [0], [4]]);
});

test('counts a session that was copied into another file once', async () => {
  const place = openPlace('claude-code');
  for (const file of transcriptsOf(place.home)) cpSync(file, file.replace('.jsonl', '-copy.jsonl'));
  const { agents, skills } = await usageIn('claude-code', place);
  expect(agents.map(({ requests, files }) => ({ requests, files }))).toEqual([{ requests: 4, files: 8 }]);
  expect(skills.map(({ fired }) => fired)).toEqual([1, 1, 0]);
});

test.each(AGENTS.filter((agent) => agent !== 'opencode'))('skips and counts fuzzed lines of %s', async (agent) => {
  const place = openPlace(agent);
  const random = openRandom(38);
  const values: readonly unknown[] = [null, 7, 'text', true, [], {}, [[]], [null], '\u001B[31m', -1e300];
  const broken = transcriptsOf(place.home).flatMap((file) =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .flatMap((line) =>
        Array.from({ length: 20 }, () => {
          const at = 1 + random.below(line.length - 1);
          if (random.isChance(2)) return line.slice(0, at);
          // Another value for one field, at any depth.
          const fields = [...line.matchAll(/"\w+":/g)];
          const target = random.below(fields.length);
          let number = -1;
          return JSON.stringify(JSON.parse(line), (key, value: unknown) => {
            number += key === '' ? 0 : 1;
            return number === target && key !== '' ? values[random.below(values.length)] : value;
          });
        }),
      ),
  );
  const [first = ''] = transcriptsOf(place.home);
  const fuzzed = path.join(path.dirname(first), agent === 'codex' ? 'rollout-fuzzed.jsonl' : 'session-fuzzed.jsonl');
  const file =
    agent === 'github-copilot' ? path.join(path.dirname(path.dirname(first)), 'fuzzed/events.jsonl') : fuzzed;
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `${broken.join('\n')}\n`);
  const { agents } = await usageIn(agent, place);
  const whole = await usageIn(agent, openPlace(agent));
  expect(agents.map(({ lines, files }) => ({ lines, files }))).toEqual(
    whole.agents.map(({ lines, files }) => ({ lines: lines + broken.length, files: files + 1 })),
  );
  expect(agents[0]?.damaged).toBe(broken.filter((line) => !isJsonObject(line)).length);
});

function isJsonObject(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

test('survives every damaged byte range of a database', async () => {
  const place = openPlace('opencode');
  const file = path.join(place.home, '.local/share/opencode/opencode.db');
  const [whole, log] = [readFileSync(file), readFileSync(`${file}-wal`)];
  const random = openRandom(39);
  for (let round = 0; round < 60; round += 1) {
    const [bytes, frames] = [Buffer.from(whole), Buffer.from(log)];
    const target = random.isChance(2) ? bytes : frames;
    const start = random.below(target.length);
    for (let at = start; at < Math.min(target.length, start + 1 + random.below(64)); at += 1)
      target[at] = random.below(256);
    writeFileSync(file, round % 5 === 0 ? bytes.subarray(0, start) : bytes);
    writeFileSync(`${file}-wal`, frames);
    const { agents } = await usageIn('opencode', place);
    expect(agents).toHaveLength(1);
  }
  writeFileSync(file, 'not a database');
  rmSync(`${file}-wal`);
  const { agents } = await usageIn('opencode', place);
  expect(agents.map(({ problems }) => problems)).toEqual([[`${file} is not a SQLite database in UTF-8`]]);
});

test('reads the part of a database that is not in its log', async () => {
  const place = openPlace('opencode');
  rmSync(path.join(place.home, '.local/share/opencode/opencode.db-wal'));
  const { agents } = await usageIn('opencode', place);
  expect(agents.map(({ requests, problems }) => ({ requests, problems }))).toEqual([{ requests: 3, problems: [] }]);
});

test('skips a line of 40 MB and reads the rest', async () => {
  const place = openPlace('pi');
  const [file = ''] = transcriptsOf(place.home);
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, `{"type":"${'x'.repeat(40_000_000)}"}\n${text}`);
  const { agents } = await usageIn('pi', place);
  expect(agents.map(({ requests, tooLong }) => ({ requests, tooLong }))).toEqual([{ requests: 4, tooLong: 1 }]);
});

test('follows no link below the folder of an agent, and names what it cannot list', async () => {
  const place = openPlace('codex');
  const [file = ''] = transcriptsOf(place.home);
  const secret = path.join(place.home, 'secret.jsonl');
  writeFileSync(secret, readFileSync(file, 'utf8'));
  const link = path.join(path.dirname(file), 'rollout-link.jsonl');
  symlinkSync(secret, link);
  symlinkSync(place.home, path.join(path.dirname(file), 'folder'));
  const { agents } = await usageIn('codex', place);
  expect(agents.map(({ files, problems }) => ({ files, problems }))).toEqual([
    { files: 4, problems: [`${link} is a link and was not read`] },
  ]);
});

test('names a folder and a transcript that it may not read', needs('an ordinary user'), async () => {
  const place = openPlace('codex');
  const [file = ''] = transcriptsOf(place.home);
  const closed = path.join(place.home, '.codex/sessions/closed');
  mkdirSync(closed);
  chmodSync(closed, 0);
  chmodSync(file, 0);
  const { agents } = await usageIn('codex', place);
  chmodSync(closed, 0o700);
  expect(agents.map(({ requests, problems }) => ({ requests, problems }))).toEqual([
    { requests: 3, problems: [`${closed} cannot be listed (EACCES)`, `${file} cannot be read (EACCES)`] },
  ]);
});

test('ends when it is cancelled', async () => {
  const place = openPlace('claude-code');
  const controller = new AbortController();
  const usage = usageIn('claude-code', place, {
    signal: controller.signal,
    onProgress: () => controller.abort(new Error('cancelled')),
  });
  await expect(usage).rejects.toThrow('cancelled');
});

test('reads a transcript to which an agent is writing', async () => {
  const place = openPlace('pi');
  const [file = ''] = transcriptsOf(place.home);
  const text = readFileSync(file, 'utf8');
  const last = text.trimEnd().split('\n').at(-1) ?? '';
  writeFileSync(file, `${text}${last.slice(0, 40)}`);
  const { agents } = await usageIn('pi', place);
  expect(agents.map(({ requests, damaged }) => ({ requests, damaged }))).toEqual([{ requests: 4, damaged: 1 }]);
});

test('counts a skill once for a request that loads it again', async () => {
  const place = openPlace('pi');
  for (const file of transcriptsOf(place.home)) {
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    const calls = lines.flatMap((line) => /"type":"toolCall","id":"([^"]+)"/.exec(line)?.[1] ?? []);
    const again = lines.flatMap((line) => {
      const call = calls.find((id) => line.includes(id));
      return call === undefined ? [line] : [line, line.replaceAll(call, `${call}-again`)];
    });
    writeFileSync(file, `${again.join('\n')}\n`);
  }
  const { skills } = await usageIn('pi', place);
  expect(skills.map(({ name, fired }) => [name, fired])).toEqual([
    ['csv-report', 1],
    ['text-diff', 1],
    ['slide-deck', 0],
  ]);
});
