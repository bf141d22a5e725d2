import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { openRequestRedactor } from '../../src/activation/usage/redact-request.ts';

const top = mkdtempSync(path.join(os.tmpdir(), 'redact-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));
const home = path.join(top, 'jmiller');
mkdirSync(home);
writeFileSync(path.join(home, '.gitconfig'), '[user]\n\tname = Jane Miller\n\temail = jane@corp.example\n');
const redact = openRequestRedactor({ cwd: home, home, env: { USER: 'jmiller', LOGNAME: 'j-m.(x' } });

test.each([
  ['Summarise my CSV file of sales', 'Summarise my CSV file of sales'],
  ['Compare v1.2 with v1.3 and/or explain e.g. the API', 'Compare v1.2 with v1.3 and/or explain e.g. the API'],
  ['Use Node.js 20 and C++', 'Use file.js 20 and C++'],
  ['read /home/jmiller/q3/sales.csv please', 'read file.csv please'],
  ['open ~/clients/acme, then C:\\Users\\jane\\a.docx', 'open folder, then file.docx'],
  ['look at src/acme/billing.ts', 'look at file.ts'],
  ['summarise acme-contract.pdf', 'summarise file.pdf'],
  ['把 报告-张三.xlsx 转成表格', '把 file.xlsx 转成表格'],
  ['mail it to bob.smith@acme.example now', 'mail it to [email] now'],
  ['see https://jira.acme.com/X-1?u=bob and acme.internal', 'see [url] and [host]'],
  ['ssh to db-7.acme.corp:5432, 10.0.0.12:80 or fe80::1ff:fe23:4567', 'ssh to [host], [address] or [address]'],
  ['start localhost:3000', 'start [host]'],
  ['the password: hunter2 is wrong', 'the password: [secret] is wrong'],
  ['密码是 abc123，帮我登录', '密码是 [secret]，帮我登录'],
  ['call +49 170 1234567', 'call [number]'],
  ['Write to Dr. Smith and to Jane Miller about it', 'Write to [name] and to [name] about it'],
  ['JMILLER wrote this with jane', '[name] wrote this with [name]'],
  ['J-M.(X did it', '[name] did it'],
  ['Reply: Dear Anna Schmidt, thanks', 'Reply: Dear [name], thanks'],
  ['ask @octocat and my colleague Bob', 'ask [handle] and my colleague [name]'],
  ['请给王小明先生写封邮件', '请给[name]先生写封邮件'],
  [`use ghp_${'a1'.repeat(18)} to push`, 'use [secret shape] to push'],
])('removes from %j what says who wrote it and where', (written, kept) => {
  expect(redact(written)).toBe(kept);
});

test('takes time in proportion to the length of hostile text', () => {
  for (const piece of ['a.', 'a/', '/', '@a', 'http://', '1 ', 'Dr A ', '::', '王', 'a@a.'])
    expect(redact(piece.repeat(1000)).length).toBeLessThan(12_000);
});
