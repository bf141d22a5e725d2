/** Sessions of Claude Code as it keeps them, and a program in its place, for a tutorial that needs an agent and has no model. */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const LOADED = [
  'Summarise my CSV file of sales',
  'Write a report about this CSV file',
  'Which rows of orders.csv have no customer?',
  'What is the total of the amount column in this CSV?',
  'How many rows does export.csv have?',
  'Which region sold least, by sales.csv?',
  'List the columns of this CSV',
  'Give me the average price in products.csv',
  'Which months are missing in this CSV?',
  'Find duplicate rows in contacts.csv',
  'What is the highest amount in payments.csv?',
  'Sort the totals per region of sales.csv',
  'Which columns of survey.csv are empty?',
  'What share of rows in tickets.csv is open?',
  'Compute the median column of times.csv',
  'Which rows of stock.csv have a total below ten?',
  'Plot the amount column of costs.csv',
  'Add up the rows of expenses.csv',
  'Compare the totals of both columns in this CSV',
  'Round the amounts in this CSV column',
  'Which column of this CSV has the most gaps?',
  'Count rows per day in visits.csv',
  'What is the average amount in refunds.csv?',
  'Show the last rows of log.csv',
];
const OTHERS = [
  'Tell me a joke',
  'Rename this function to readConfig',
  'Why does the build fail on Windows?',
  'Add a test for the parser',
  'What is the capital of France?',
  'Explain this stack trace',
  'Write a commit message',
  'Make the button blue',
  'Remove the unused import',
  'Thank you, that is all',
];
const SKILL = `---
name: csv-report
description: Summarises CSV.
---

# CSV report

Read the file, and answer with a Markdown table.
`;

/** Loads the skills whose description has two words of the request, or whose name it says. */
const PROGRAM = `#!/usr/bin/env node
const { existsSync, readdirSync, readFileSync } = require('node:fs');
if (process.argv[2] === '--version') { console.log('9.9.9 (Claude Code)'); process.exit(0); }
const prompt = process.argv[process.argv.indexOf('-p') + 1];
const skills = existsSync('.claude/skills') ? readdirSync('.claude/skills') : [];
const COMMON = /^(?:the|and|for|use|with|any|this|that|its|about|into|when|user)$/;
const words = (text) =>
  new Set((text.toLowerCase().match(/[a-z]{3,}/g) ?? []).filter((word) => !COMMON.test(word)).map((word) => word.replace(/e?s$/, '')));
const said = words(prompt);
const print = (value) => console.log(JSON.stringify(value));
const use = (id, type, content) => print({ type, message: { id, content: [content] } });
print({ type: 'system', subtype: 'init', model: 'stand-in', skills });
for (const skill of skills) {
  const [head] = readFileSync('.claude/skills/' + skill + '/SKILL.md', 'utf8').split('\\n---', 1);
  const description = /^description:([^]*?)(?=\\n\\w|$(?![^]))/m.exec(head)?.[1] ?? '';
  if ([...words(description)].filter((word) => said.has(word)).length < 2 && !prompt.includes(skill)) continue;
  use('m-' + skill, 'assistant', { type: 'tool_use', id: 't-' + skill, name: 'Skill', input: { skill } });
  use('r-' + skill, 'user', { type: 'tool_result', tool_use_id: 't-' + skill, content: 'loaded' });
}
use('m', 'assistant', { type: 'text', text: 'Done.' });
const usage = { input_tokens: 100, cache_read_input_tokens: 20, output_tokens: 10 };
print({ type: 'result', subtype: 'success', is_error: false, result: 'Done.', total_cost_usd: 0.01, usage });
`;

const DAY_MS = 86_400_000;

/** Prepares the folder of a page (test/docs/run-page.ts): its home, the programs beside it, and a skill older than the sessions. */
export function prepareRecordedAgent(folder: string): void {
  const sessions = path.join(folder, '../.claude/projects/-project');
  const skill = path.join(folder, '.claude/skills/csv-report');
  for (const made of [sessions, skill, path.join(folder, '.git')]) mkdirSync(made, { recursive: true });
  writeFileSync(path.join(skill, 'SKILL.md'), SKILL);
  utimesSync(path.join(skill, 'SKILL.md'), 1_700_000_000, 1_700_000_000);
  writeFileSync(path.join(folder, '../../bin/claude'), PROGRAM, { mode: 0o755 });
  for (const [at, text] of [...LOADED, ...OTHERS].entries())
    writeFileSync(path.join(sessions, `s${String(at)}.jsonl`), session(text, { at, cwd: folder }));
}

function session(text: string, { at, cwd }: { readonly at: number; readonly cwd: string }): string {
  const timestamp = new Date(Date.now() - 3 * DAY_MS + at * 60_000).toISOString();
  const line = (type: string, uuid: string, message: object): string =>
    JSON.stringify({
      type,
      uuid: `${uuid}${String(at)}`,
      timestamp,
      sessionId: `s${String(at)}`,
      cwd,
      version: '2.1.197',
      isSidechain: false,
      message,
    });
  const usage = { input_tokens: 120, output_tokens: 12 };
  const model = 'claude-sonnet-4-5';
  const call = { type: 'tool_use', id: 't', name: 'Skill', input: { skill: 'csv-report' } };
  const result = { type: 'tool_result', tool_use_id: 't', content: 'Launching skill: csv-report' };
  const lines = [
    line('user', 'u', { role: 'user', content: text }),
    ...(LOADED.includes(text)
      ? [
          line('assistant', 'a', { id: `m${String(at)}`, role: 'assistant', model, content: [call], usage }),
          line('user', 'r', { role: 'user', content: [result] }),
        ]
      : []),
    line('assistant', 'e', {
      id: `e${String(at)}`,
      role: 'assistant',
      model,
      content: [{ type: 'text', text: 'Done.' }],
      usage,
    }),
  ];
  return `${lines.join('\n')}\n`;
}
