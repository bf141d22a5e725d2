import {
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { openApprovals } from '../../../src/policy/approval/approver.ts';
import {
  pendingFolder,
  answerPending,
  listPending,
  readPending,
  takeAnswer,
  waitForAnswer,
  writePending,
  type PendingFolder,
} from '../../../src/policy/approval/pending-approvals.ts';
import { sealKey, openSeals } from '../../../src/platform/fs/seal-key.ts';
import { verifies } from '../../conformance/verifies.ts';
import { requestOf } from '../approval-request.ts';
import { built, runModule, scratch } from '../../skills/registry/support.ts';

const request = requestOf();
const other = requestOf({ id: `sha256:${'9'.repeat(64)}` });
const hexOf = (id: string): string => id.slice('sha256:'.length);
const questionFile = ({ folder }: PendingFolder): string => path.join(folder, `${hexOf(request.id)}.json`);
const answerFile = ({ folder }: PendingFolder, id = request.id): string =>
  path.join(folder, `${hexOf(id)}.answer.json`);

function place(): PendingFolder {
  const home = scratch();
  return { home, folder: pendingFolder(home) };
}

describe('a question that waits', () => {
  test('is read as it was asked, by this user alone', () => {
    const at = place();
    const question = writePending(at, request, new Date(0));
    expect(question).toEqual({ request, at: '1970-01-01T00:00:00.000Z', asking: question.asking });
    expect(readPending(at, request.id)).toEqual(question);
    expect(writePending(at, request)).toEqual(question);
    expect([statSync(questionFile(at)).mode & 0o777, statSync(at.folder).mode & 0o777]).toEqual([0o600, 0o700]);
  });

  test('is answered by another process', async () => {
    const at = place();
    const waiting = waitForAnswer(at, request, { timeoutMs: 50_000 });
    runModule(
      `const [, module, folder, home, id] = process.argv;
       const { answerPending } = await import(module);
       answerPending({ folder, home }, id, { verdict: 'yes', scope: 'run' });`,
      [built('policy/approval/pending-approvals.js'), at.folder, at.home, request.id],
    );
    expect(await waiting).toEqual({ verdict: 'yes', scope: 'run', by: 'file' });
    expect(readdirSync(at.folder)).toEqual([]);
  });

  test('stays open after its run ended, and the next run takes its answer', async () => {
    const at = place();
    expect(await waitForAnswer(at, request, { timeoutMs: 0 })).toBe('pending');
    expect(listPending(at).questions.map((question) => question.request)).toEqual([request]);
    answerPending(at, request.id, { verdict: 'no', scope: 'once' });
    expect(await waitForAnswer(at, request, { timeoutMs: 0 })).toEqual({ verdict: 'no', scope: 'once', by: 'file' });
  });

  verifies('POL-3', 'is approved if and only if the answer in its file is a well-formed yes', async () => {
    const at = place();
    const value = fc.oneof(fc.constantFrom('yes', 'no', 'once', 'run', 'YES', 'yes ', 'true', true), fc.jsonValue());
    const body = fc.record({ verdict: value, scope: value, isOther: fc.boolean() }, { requiredKeys: [] });
    await fc.assert(
      fc.asyncProperty(fc.oneof(body, fc.jsonValue()), async (said) => {
        const { asking } = writePending(at, request);
        const { isOther, ...fields } = { isOther: undefined, ...(typeof said === 'object' ? said : {}) };
        const answer =
          typeof said === 'object' ? { ...fields, id: request.id, asking: isOther === true ? 'x' : asking } : said;
        // Authentic, as if another version of this program had written it.
        const text = JSON.stringify(answer);
        const mac = openSeals(sealKey(at.home), 'skillwright answer 1').compute(text);
        writeFileSync(answerFile(at), JSON.stringify({ mac, body: text }), { mode: 0o600 });
        const { verdict, scope }: Record<string, unknown> = fields;
        const isYes = isOther !== true && verdict === 'yes' && ['once', 'run', 'skill'].some((one) => one === scope);
        expect((await takeAnswer(at, request.id))?.verdict === 'yes').toBe(isYes);
      }),
      { numRuns: 200 },
    );
  });

  test('gets an answer once: the next asking of the same is asked anew', async () => {
    const at = place();
    writePending(at, request);
    answerPending(at, request.id, { verdict: 'yes', scope: 'once' });
    const kept = readFileSync(answerFile(at));
    expect((await takeAnswer(at, request.id))?.verdict).toBe('yes');
    expect(await takeAnswer(at, request.id)).toBeUndefined();
    writePending(at, request);
    writeFileSync(answerFile(at), kept);
    expect(await takeAnswer(at, request.id)).toBeUndefined();
    expect(await waitForAnswer(at, request, { timeoutMs: 0 })).toBe('pending');
  });

  test('gets an answer once, even if its files are copied back', async () => {
    const at = place();
    writePending(at, request);
    answerPending(at, request.id, { verdict: 'yes', scope: 'once' });
    const files = [questionFile(at), answerFile(at)].map((file) => [file, readFileSync(file)] as const);
    const copyBack = (): void => files.forEach(([file, bytes]) => writeFileSync(file, bytes, { mode: 0o600 }));
    expect((await takeAnswer(at, request.id))?.verdict).toBe('yes');
    copyBack();
    expect(await takeAnswer(at, request.id)).toBeUndefined();
    expect(await waitForAnswer(at, request, { timeoutMs: 0 })).toBe('pending');
    copyBack();
    const asker = { by: 'callback', ask: async () => false } as const;
    const { approve } = openApprovals({ home: at.home, pending: { folder: at.folder }, asker });
    expect(await approve(request, {})).toMatchObject({ verdict: 'no', by: 'callback' });
  });

  test('keeps an answer whose use cannot be remembered', async () => {
    const at = place();
    writePending(at, request);
    answerPending(at, request.id, { verdict: 'yes', scope: 'once' });
    const memory = path.join(at.home, '.agent/used-approvals.json');
    writeFileSync(memory, 'damaged', { mode: 0o600 });
    await expect(takeAnswer(at, request.id)).rejects.toMatchObject({ code: 'io/failed' });
    const warnings: string[] = [];
    const onWarning = (warning: string): unknown => warnings.push(warning);
    const { approve } = openApprovals({ home: at.home, pending: { folder: at.folder }, onWarning });
    expect(await approve(request, {})).toBe('nobody');
    expect(warnings).toEqual([expect.stringMatching(/used approvals is damaged.*it is not JSON; move .* away/)]);
    rmSync(memory);
    expect((await takeAnswer(at, request.id))?.verdict).toBe('yes');
  });

  test('is given up when the signal says so', async () => {
    const stop = new AbortController();
    const waiting = waitForAnswer(place(), request, { timeoutMs: 50_000, signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });
});

describe('what is no answer', () => {
  test('an answer to another question, under the name of this one', async () => {
    const at = place();
    writePending(at, request);
    writePending(at, other);
    answerPending(at, other.id, { verdict: 'yes', scope: 'once' });
    writeFileSync(answerFile(at), readFileSync(answerFile(at, other.id)));
    expect(await takeAnswer(at, request.id)).toBeUndefined();
    expect((await takeAnswer(at, other.id))?.verdict).toBe('yes');
  });

  test.each([
    ['edited', (file: string) => writeFileSync(file, readFileSync(file, 'utf8').replace('no', 'yes'))],
    ['torn', (file: string) => truncateSync(file, 40)],
    ['empty', (file: string) => truncateSync(file, 0)],
    ['no object', (file: string) => writeFileSync(file, '"yes"')],
  ])('one that is %s', async (_, spoil) => {
    const at = place();
    writePending(at, request);
    answerPending(at, request.id, { verdict: 'no', scope: 'once' });
    spoil(answerFile(at));
    expect(await takeAnswer(at, request.id)).toBeUndefined();
    expect(readPending(at, request.id)?.request).toEqual(request);
  });

  test('a link', async () => {
    const at = place();
    writePending(at, request);
    answerPending(at, request.id, { verdict: 'yes', scope: 'once' });
    const kept = path.join(at.home, 'kept');
    writeFileSync(kept, readFileSync(answerFile(at)));
    expect((await takeAnswer(at, request.id))?.verdict).toBe('yes');
    writePending(at, request);
    symlinkSync(kept, answerFile(at));
    expect(await takeAnswer(at, request.id)).toBeUndefined();
    expect(readFileSync(kept, 'utf8')).not.toBe('');
  });

  test('an edited question cannot be answered and is reported', () => {
    const at = place();
    writePending(at, request);
    writeFileSync(questionFile(at), readFileSync(questionFile(at), 'utf8').replace('git status', 'git push'));
    expect(() => answerPending(at, request.id, { verdict: 'yes', scope: 'once' })).toThrow('is waiting for an answer');
    expect(listPending(at)).toEqual({
      questions: [],
      problems: [`${questionFile(at)} is ignored: it was modified`],
    });
    // Asked again, it is written again.
    expect(writePending(at, request).request).toEqual(request);
    expect(listPending(at).questions.length).toBe(1);
  });

  test('a scope that was not offered', () => {
    const at = place();
    writePending(at, { ...request, scopes: ['once'] });
    expect(() => answerPending(at, request.id, { verdict: 'yes', scope: 'skill' })).toThrow(
      'cannot be answered with scope skill',
    );
  });

  test.each(['', '../../etc/passwd', 'sha256:../x', `sha256:${'a'.repeat(63)}/`, 'a'.repeat(64), 'sha256:A'])(
    'the id %j names no file',
    (id) => {
      const at = place();
      mkdirSync(at.folder, { recursive: true });
      expect(() => readPending(at, id)).toThrow(expect.objectContaining({ code: 'input/invalid' }));
      expect(() => answerPending(at, id, { verdict: 'yes', scope: 'once' })).toThrow('is not the id');
      expect(() => writePending(at, { ...request, id })).toThrow('is not the id');
      expect(readdirSync(at.folder)).toEqual([]);
    },
  );
});
