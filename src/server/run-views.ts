/** Views of recorded runs: rows of the list, details, and two runs side by side. */
import { statSync } from 'node:fs';
import path from 'node:path';

import { changesBetween, defined, eventText, sliceStart, type RunInfo } from '#core';
import { isLeftOutNote } from '#runtime';
import { readRun, type ListedRun } from '#journal';
import type { EventRow, RunComparison, RunDetail, RunRow, RunUsage } from './api/runs.ts';
import { eventRow, planView, priceAnswer, type PriceAnswer } from './event-row.ts';
import type { Immutable } from './router.ts';
import { filesIn } from './run-starter.ts';

interface RunFacts {
  readonly usage: RunUsage;
  readonly plan?: RunDetail['plan'];
  readonly answer: string;
  readonly resumes?: string;
  readonly turns: readonly number[];
  readonly events: number;
  readonly notStored: readonly string[];
}

/** Reads the events of a run once. Ended runs are remembered, because the list shows their cost again and again. */
export interface RunReader {
  /** Without what its events cost, so that no event is read. */
  readonly row: (listed: ListedRun) => Immutable<RunRow>;
  /** Undefined if the record cannot be read. */
  readonly usage: (listed: ListedRun) => RunUsage | undefined;
  readonly detail: (id: string, folder: string) => Immutable<RunDetail>;
}

interface OwnRuns {
  /** Whether a run can be cancelled here. */
  readonly isOwn: (run: string) => boolean;
  /** The folder of the output files of a run; it may not exist. */
  readonly outputs: (run: string) => string;
}

const MAX_REMEMBERED = 1_000;

interface RunReaderOptions {
  /** Runs that this server started, if any. */
  readonly own?: OwnRuns;
  readonly price?: PriceAnswer | undefined;
}

export function openRunReader({ own, price }: RunReaderOptions = {}): RunReader {
  const remembered = new Map<string, RunFacts>();
  const rememberFacts = (folder: string, info: RunInfo): RunFacts => {
    const key = `${folder} ${info.events.head}`;
    const known = remembered.get(key);
    if (known !== undefined) return known;
    const facts = readFacts(folder, price);
    if (info.outcome === 'running') return facts;
    remembered.set(key, facts);
    const [oldest] = remembered.keys();
    if (remembered.size > MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
    return facts;
  };
  const toRow = (id: string, state: string, info: RunInfo, usage?: RunUsage): Immutable<RunRow> => ({
    run: id,
    state,
    request: sliceStart(info.request, 2_000),
    skills: [...new Set(info.skills.map(({ name }) => name))],
    startedAt: info.startedAt,
    ...defined({ endedAt: info.endedAt, labels: info.labels }),
    usage,
    isOwn: own?.isOwn(id) ?? false,
  });
  return {
    row({ id, reading, state }) {
      if (reading.type !== 'run') return { run: id, state, request: '', skills: [], isOwn: false };
      return toRow(id, state, reading.info);
    },
    usage: ({ path: folder, reading }) =>
      reading.type === 'run' ? rememberFacts(folder, reading.info).usage : undefined,
    detail(id, folder) {
      const { info, state, torn, problems } = readRun(folder, { content: 'start' });
      const { usage, plan, answer, resumes, turns, events, notStored } = rememberFacts(folder, info);
      const outputs = own?.outputs(id);
      return {
        run: toRow(id, state, info, usage),
        reason: info.reason,
        usage,
        events,
        isTorn: torn,
        problems: [...problems, ...notStored],
        plan,
        answer,
        version: info.version,
        parent: info.parent,
        resumes,
        ...(info.executor === null ? {} : { executor: `${info.executor.name} (${info.executor.isolation})` }),
        indexHash: info.indexHash,
        policyHash: info.policyHash,
        budgets: info.budgets,
        skills: info.skills.map(({ id: skill, name, digest }) => ({ id: skill, name, digest })),
        tools: info.tools,
        approvals: info.approvals.map(({ call, tool, answer: verdict }) => ({
          call,
          tool,
          answer: answerText(call, verdict),
        })),
        files:
          outputs === undefined
            ? []
            : filesIn(outputs).map((name) => ({ name, bytes: statSync(path.join(outputs, name)).size })),
        turns,
      };
    },
  };
}

function readFacts(folder: string, price: PriceAnswer | undefined): RunFacts {
  const models = new Set<string>();
  const turns: number[] = [];
  // A record that continues another one repeats its notes.
  const notStored = new Set<string>();
  let [toolCalls, inputTokens, outputTokens, estimated, elapsedMs, events] = [0, 0, 0, 0, 0, 0];
  let isEstimated = false;
  let model = '';
  let usd: number | undefined;
  let hasUnknownPrice = false;
  let plan: RunDetail['plan'];
  let answer = '';
  let resumes: string | undefined;
  for (const { event, elapsed } of readRun(folder, { content: 'answer' }).lines) {
    elapsedMs = Math.max(elapsedMs, elapsed);
    events += 1;
    if (event.type === 'note' && isLeftOutNote(event.message)) notStored.add(event.message);
    if (event.type === 'run-start') resumes = event.agent?.resumes?.run;
    if (event.type === 'action') toolCalls += event.action.type === 'final_answer' ? 0 : 1;
    if (event.type === 'action' && event.action.type === 'final_answer') ({ answer } = event.action);
    if (event.type === 'plan') plan = { ...planView(event.plan), steps: [...planView(event.plan).steps] };
    if (event.type === 'model-call') {
      models.add(event.model);
      ({ model } = event);
      turns.push(event.turn);
      estimated += event.tokens;
    }
    if (event.type !== 'model-answer') continue;
    inputTokens += event.usage.inputTokens ?? 0;
    outputTokens += event.usage.outputTokens ?? 0;
    if (event.usage.inputTokens === undefined) isEstimated = true;
    const cost = priceAnswer(price, model, event);
    if (cost === undefined) hasUnknownPrice = true;
    else usd = (usd ?? 0) + cost;
  }
  return {
    usage: {
      models: [...models],
      turns: turns.length,
      toolCalls,
      inputTokens: isEstimated ? estimated : inputTokens,
      outputTokens,
      isEstimated,
      elapsedMs: Math.round(elapsedMs),
      ...defined({ usd: hasUnknownPrice ? undefined : usd }),
    },
    plan,
    answer,
    resumes,
    turns,
    events,
    notStored: [...notStored],
  };
}

function answerText(call: number, answer: RunInfo['approvals'][number]['answer']): string {
  return eventText({ type: 'approval-answer', call, request: '', answer }, 'normal')[0]?.text ?? '';
}

const MAX_STEPS = 1_000;

/** The actions and outcomes of two runs, aligned by their texts. Different steps at the same place are shown beside each other. */
export function alignedSteps(left: string, right: string): Pick<Immutable<RunComparison>, 'steps' | 'isCut'> {
  const all = [readSteps(left), readSteps(right)];
  const [a = [], b = []] = all.map((rows) => rows.slice(0, MAX_STEPS));
  const steps: Immutable<RunComparison>['steps'][number][] = [];
  let [i, j] = [0, 0];
  let [onlyLeft, onlyRight]: [Immutable<EventRow>[], Immutable<EventRow>[]] = [[], []];
  const flush = (): void => {
    for (let at = 0; at < Math.max(onlyLeft.length, onlyRight.length); at += 1) {
      const [one, other] = [onlyLeft[at], onlyRight[at]];
      steps.push({
        left: one,
        right: other,
        isSame: false,
      });
    }
    [onlyLeft, onlyRight] = [[], []];
  };
  const texts = (rows: readonly Immutable<EventRow>[]): readonly string[] => rows.map(({ text }) => text);
  for (const { kind } of changesBetween(texts(a), texts(b), 2 * MAX_STEPS)) {
    const [one, other] = [kind === 'added' ? undefined : a[i++], kind === 'removed' ? undefined : b[j++]];
    if (one !== undefined && other !== undefined) {
      flush();
      steps.push({ left: one, right: other, isSame: true });
    } else if (one !== undefined) onlyLeft.push(one);
    else if (other !== undefined) onlyRight.push(other);
  }
  flush();
  return { steps, isCut: all.some((rows) => rows.length > MAX_STEPS) };
}

/** One more than is compared says that there are more. */
const MAX_READ = MAX_STEPS + 1;
const COMPARED: ReadonlySet<string> = new Set(['action', 'observation', 'budget-end', 'call-invalid', 'run-end']);

function readSteps(folder: string): readonly Immutable<EventRow>[] {
  const rows: Immutable<EventRow>[] = [];
  for (const line of readRun(folder, { content: 'start' }).lines) {
    if (COMPARED.has(line.event.type)) rows.push(eventRow(line));
    if (rows.length === MAX_READ) break;
  }
  return rows;
}
