/** Runs as text. Everything in a run is untrusted and escaped before it is printed. */
import {
  agentEventText,
  describeOutcome,
  forPeople,
  limitText,
  printable,
  type JournalLine,
  type RunEvent,
  type RunInfo,
  withToolName,
} from '#core';
import type { ChainVerification, ListedRun, ReadRun, Verification } from '#journal';
import type { Style, Terminal } from '../terminal/terminal.ts';
import { fitText, padText, textWidth } from '#platform';

/** Columns of an event when stdout is not a terminal. */
const EVENT_COLUMNS = 240;
/** An event may be megabytes; only this much is rendered. */
const EVENT_CHARACTERS = 2_000;
const REQUEST_COLUMNS = 60;

const STATE_STYLES: Readonly<Record<string, Style>> = { done: 'green', running: 'cyan' };

export function runLines(
  rows: readonly ListedRun[],
  { style, width, isAnswerOnTerminal }: Terminal,
): readonly string[] {
  const column = Math.max(0, ...rows.map(({ state }) => state.length));
  return rows.map(({ id, reading, state }) => {
    const info = reading.type === 'run' ? reading.info : undefined;
    const room = isAnswerOnTerminal ? Math.max(20, width - id.length - column - 30) : REQUEST_COLUMNS;
    const request = fitText(printable(info?.request ?? ''), room);
    const skills = [...new Set(info?.skills.map(({ name }) => printable(name)))].join(', ');
    return [
      style('bold', id),
      style(STATE_STYLES[state] ?? 'yellow', padText(state, column)),
      padText(request, isAnswerOnTerminal ? 0 : Math.min(REQUEST_COLUMNS, textWidth(request))),
      style('dim', skills),
    ]
      .join('  ')
      .trimEnd();
  });
}

export function infoLines({ info, state }: ReadRun, { style, wrap }: Terminal): readonly string[] {
  const fields: readonly (readonly [string, string])[] = [
    ['run', info.run],
    ['request', info.request],
    ['outcome', `${state}${info.reason === '' ? '' : `: ${info.reason}`}`],
    ['started', info.startedAt],
    ['ended', info.endedAt ?? ''],
    ['version', info.version],
    ['part of', info.parent ?? ''],
    ['executor', info.executor === null ? '' : executorText(info.executor)],
    ['index', info.indexHash],
    ['policy', info.policyHash],
    ['phases', info.phases.join(' ')],
    ['invalid calls', info.invalidCalls === 0 ? '' : String(info.invalidCalls)],
    ['events', `${String(info.events.count)}, last hash ${info.events.head}`],
  ];
  return [
    ...fields
      .filter(([, value]) => value !== '')
      .map(([name, value]) => wrap(`${name.padEnd(9)} ${printable(value)}`, 10)),
    ...section(
      style('bold', 'Skills'),
      info.skills.map(({ id, digest }) => `${printable(id)}  ${style('dim', printable(digest))}`),
    ),
    ...section(
      style('bold', 'Resources'),
      info.resources.map(({ skill, path, bytes, truncated }) =>
        printable(`${skill}/${path}  ${String(bytes)} bytes${truncated ? ', cut' : ''}`),
      ),
    ),
    ...section(
      style('bold', 'Tools'),
      info.tools.map(({ tool, calls, failed }) =>
        printable(`${tool}  ${String(calls)}${failed === 0 ? '' : `, ${String(failed)} failed`}`),
      ),
    ),
    ...section(style('bold', 'Programs'), info.programs.flatMap(programLines)).map((line) => wrap(line, 4)),
    ...section(style('bold', 'Approvals'), info.approvals.map(approvalText)),
  ];
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}

function executorText({ name, isolation, image, mounts = [] }: NonNullable<RunInfo['executor']>): string {
  return [
    isolation === name ? name : `${name}, isolation ${isolation}`,
    ...(image === undefined ? [] : [`image ${image}`]),
    ...mounts.map(({ path, access }) => `${path} (${access})`),
  ].join(', ');
}

function programLines({
  call,
  skill,
  program,
  exitCode,
  reason,
  stdout,
  stderr,
}: RunInfo['programs'][number]): readonly string[] {
  // A program that was stopped has no exit code of its own.
  const end =
    exitCode === null || exitCode < 0 ? reason : `exit ${String(exitCode)}${reason === 'exited' ? '' : `, ${reason}`}`;
  const output = [stdout, stderr].map((text) => text.trim()).find((text) => text !== '');
  return [
    printable(`#${String(call)} ${skill === undefined ? '' : `${skill} `}${program}: ${end}`),
    ...(output === undefined ? [] : [`  ${printable(output.split('\n', 1)[0] ?? '')}`]),
  ];
}

function approvalText({ call, tool, answer }: RunInfo['approvals'][number]): string {
  return `#${String(call)} ${printable(tool)}: ${answerText(answer)}`;
}

function answerText(answer: RunInfo['approvals'][number]['answer']): string {
  if (typeof answer === 'string') return printable(answer);
  const { verdict, scope, by } = answer;
  return printable(verdict === 'no' ? `refused (by ${by})` : `${verdict} (${scope}, by ${by})`);
}

/** An event on one line. */
export function eventLine(
  { seq, elapsed, event }: JournalLine,
  { style, width, isAnswerOnTerminal }: Terminal,
): string {
  const start = `${String(seq).padStart(5)} ${`+${(elapsed / 1000).toFixed(3)}`.padStart(9)}  `;
  const room = isAnswerOnTerminal ? Math.max(20, width - start.length) : EVENT_COLUMNS;
  return `${style('dim', start)}${fitText(printable(forPeople(eventText(event).slice(0, EVENT_CHARACTERS))), room)}`;
}

function eventText(event: RunEvent): string {
  switch (event.type) {
    case 'run-start':
      return `start: ${event.request}`;
    case 'action': {
      const { type, ...rest } = event.action;
      return `#${String(event.call)} ${event.tool ?? type} ${JSON.stringify(rest)} (${event.askedBy})`;
    }
    case 'decision': {
      const { effect, rule, origin, reason } = event.decision;
      return `#${String(event.call)} ${effect} by ${rule} (${origin.layer}): ${reason}`;
    }
    case 'approval-ask':
      return `#${String(event.call)} asks to allow ${event.request.tool}`;
    case 'approval-answer':
      return `#${String(event.call)} answer: ${answerText(event.answer)}`;
    case 'skill-use':
      return `#${String(event.call)} uses ${event.skill.id} ${event.skill.digest}`;
    case 'observation': {
      const { type, action, ...rest } = event.observation;
      const tool = event.tool ?? action;
      if (event.observation.type === 'failed')
        return `#${String(event.call)} ${tool} -> ${describeOutcome(withToolName(event.tool, event.observation), true).text}`;
      const limits = 'limits' in event.observation ? `, ${limitText(event.observation.limits)}` : '';
      return `#${String(event.call)} ${tool} -> ${type}${limits} ${JSON.stringify(rest)}`;
    }
    case 'session': {
      const { type, ...rest } = event.event;
      return `session: ${type} ${JSON.stringify(rest)}`;
    }
    case 'span':
      return `span: ${event.span.name} ${event.span.durationMs.toFixed(1)} ms`;
    case 'content-keep':
      return `kept ${event.name ?? event.path}, ${String(event.bytes)} bytes`;
    case 'note':
      return `note: ${event.message}`;
    case 'run-end':
      return `end: ${event.outcome}: ${event.reason}`;
    default:
      return agentEventText(event);
  }
}

const SEALS: Readonly<Record<Verification['seal'], string>> = {
  good: 'seal valid',
  bad: 'seal invalid',
  absent: 'not sealed',
  'no-key': 'seal not verified: its key is not on this machine',
};

function sealText({ status, seal, isEmpty }: Verification): string {
  if (status === 'unreadable') return '';
  if (isEmpty === true) return ': killed before its first event, it did nothing; runs prune removes it';
  return status === 'unsealed' && seal === 'absent' ? ': complete, but it may have been rewritten' : `, ${SEALS[seal]}`;
}

export function verificationLines(name: string, found: Verification, { style }: Terminal): readonly string[] {
  const isBad = found.status === 'tampered' || found.status === 'unreadable';
  const verdict = style(isBad ? 'red' : found.status === 'intact' ? 'green' : 'yellow', found.status);
  return [
    `${printable(name)}  ${verdict}${sealText(found)}`,
    ...found.problems.map(
      ({ code, path, line, message }) =>
        `  ${path}${line === undefined ? '' : `:${String(line)}`}  ${printable(message)} ${style('dim', code)}`,
    ),
  ];
}

/** The chain of the runs. For one run only problems are shown. */
export function chainLines(
  { status, problems, runs, unchained, unannounced, removed, breaks, resumedAgain }: ChainVerification,
  isAll: boolean,
  { style }: Terminal,
): readonly string[] {
  const lines = problems.map(({ code, run, line, message }) => {
    const place = run ?? `chain.jsonl${line === undefined ? '' : `:${String(line)}`}`;
    return `  ${printable(place)}  ${printable(message)} ${style('dim', code)}`;
  });
  const again = resumedAgain.map(
    ({ run, by }) =>
      `  ${printable(run)}  was resumed ${String(by.length)} times: ${by.map((one) => `${printable(one.run || 'without a record')} at ${printable(one.at)}`).join(', ')}`,
  );
  if (!isAll) return [...(lines.length === 0 ? [] : [`chain  ${style('red', 'tampered')}`, ...lines]), ...again];
  if (status === 'absent') return [];
  const known = breaks.flatMap(({ line, at, message, code, knownAt }) =>
    knownAt === undefined
      ? []
      : [
          `  chain.jsonl:${String(line)}  ${printable(message)} (found at ${printable(at)}, known since ${printable(knownAt)}) ${style('dim', code)}`,
        ],
  );
  const lost = removed.flatMap(({ run, at, reason }) =>
    reason === 'missing' ? [`  ${printable(run)}  its folder was gone; recorded as known at ${printable(at)}`] : [],
  );
  const unlisted = unannounced.map(
    ({ run, knownAt }) =>
      `  ${printable(run)}  its lines in the chain were lost; recorded as known at ${printable(knownAt)}`,
  );
  const counts = [
    `${String(runs - unannounced.length)} announced`,
    ...(removed.length === 0 ? [] : [`${String(removed.length)} removed by prune`]),
    ...(unchained.length === 0 ? [] : [`${String(unchained.length)} from before the chain: ${unchained.join(', ')}`]),
  ];
  const verdict = style(status === 'tampered' ? 'red' : status === 'intact' ? 'green' : 'yellow', status);
  return [`chain of all runs  ${verdict}, ${counts.join(', ')}`, ...lines, ...known, ...lost, ...unlisted, ...again];
}
