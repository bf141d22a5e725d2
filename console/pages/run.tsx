/** One run: while it runs, and afterwards. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { usdText } from '#evals/report';
import type { Answers, Posts, RunDetail, ServerStatus } from '#server/api';
import { useVersion } from '../changes.ts';
import { address, post } from '../client.ts';
import { useFailure, useGet } from '../hooks.ts';
import { counted, t } from '../language.ts';
import { isWaiting, sumSteps, type RunCost } from '../step-times.ts';
import { useElapsed, useLiveRun } from '../use-live-run.ts';
import { Folded } from '../parts/folded.tsx';
import { Markdown } from '../parts/markdown.tsx';
import {
  ActionButton,
  Command,
  Facts,
  PlanSteps,
  Problem,
  Section,
  State,
  Tabs,
  Waiting,
  listed,
} from '../parts/parts.tsx';
import { EventList } from '../parts/event-list.tsx';
import { QuestionDock } from '../parts/question-dock.tsx';
import { TimeBar } from '../parts/time-bar.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { useMay } from '../rights.ts';
import { link } from '../route.ts';
import { bytes, date, duration, line, number, short, visible } from '../text.ts';
import { Fork, ResumeButton, ResumeWithBudget, keptTurns } from './continue-run.tsx';

interface RunProps {
  readonly id: string;
  readonly status: ServerStatus | undefined;
  /** The event whose step the address names. */
  readonly target?: number;
}

export function RunPage(props: RunProps): JSX.Element {
  return (
    <div class="page full">
      <a class="back" href={link('runs')}>
        {t('All runs')}
      </a>
      <RunPanel {...props} />
    </div>
  );
}

export function RunPanel({ id, status, target }: RunProps): JSX.Element {
  const connection = useVersion();
  const live = useLiveRun(id, connection);
  const mayStop = useMay('submit');
  const { data, error } = useGet('/runs/{id}', { id }, `${String(live.isOver)}${connection}`);
  const [problem, fail] = useFailure();
  /** The turn to fork from; 0 starts again. */
  const [forkTurn, setForkTurn] = useState<number>();
  const isForking = forkTurn !== undefined;
  const [isResuming, setResuming] = useState(false);
  const elapsed = useElapsed(live, status?.isFleet === true ? undefined : data?.run.startedAt);
  if (data === undefined) return <Waiting error={error} />;
  const { run } = data;
  const isOpen = !live.isOver && run.state !== 'killed';
  const isQueued = run.state === 'queued' && live.last === 0;
  const state = !isOpen ? run.state : isQueued ? 'queued' : isWaiting(live) ? 'waiting' : 'running';
  const cost = sumSteps(live, elapsed);
  /** A fleet has no routes that continue or repeat a run. */
  const isLocal = status?.isFleet !== true;
  const answer = live.answer === '' ? data.answer : live.answer;
  const usage = live.isOver ? data.usage : undefined;
  const startFork = (turn: number): void => {
    setForkTurn(turn);
    scrollTo(0, 0);
  };
  return (
    <article class="run">
      <header class="run-title">
        <h1 class="request">{visible(run.request.slice(0, 400))}</h1>
        <div class="run-facts" role="status" aria-live="polite">
          <State name={state} />
          <span class="model-name">{usage?.models.map(line).join(', ') ?? line(status?.model ?? '')}</span>
          <span>{duration(usage?.elapsedMs ?? elapsed)}</span>
          <Spent cost={cost} usage={usage} />
          <span>{counted('{count} events', Math.max(live.last, live.isOver ? data.events : 0))}</span>
        </div>
        <div class="actions">
          {isOpen && run.isOwn && mayStop ? (
            <ActionButton
              kind="danger"
              act={async () => void (await post('/runs/{id}/cancel', { id }, undefined))}
              onError={fail}
            >
              {t('Stop')}
            </ActionButton>
          ) : null}
          {live.isOver && isLocal && state === 'degraded' ? (
            <button type="button" class="primary" aria-expanded={isResuming} onClick={() => setResuming(!isResuming)}>
              {t('Resume…')}
            </button>
          ) : live.isOver && isLocal && state !== 'done' ? (
            <ResumeButton id={id} fail={fail} />
          ) : null}
          {live.isOver && isLocal ? (
            <button type="button" aria-expanded={isForking} onClick={() => setForkTurn(isForking ? undefined : 0)}>
              {t('Fork…')}
            </button>
          ) : null}
          <a class="button" href={address('/runs/{id}/export', { id })} download>
            {t('Export')}
          </a>
        </div>
      </header>
      <Problem error={problem} />
      {data.reason === '' ? null : <div class="banner warning">{visible(data.reason)}</div>}
      {data.isTorn && live.isOver ? (
        <div class="banner warning">{t('The record ends within a line: the run was killed while it wrote.')}</div>
      ) : null}
      {isOpen && !run.isOwn ? (
        <p class="faint">
          {t(
            'This run belongs to another process, such as a terminal. You can follow it and answer its questions here.',
          )}
        </p>
      ) : null}
      {isResuming ? <ResumeWithBudget detail={data} fail={fail} /> : null}
      {forkTurn === undefined ? null : (
        <Fork key={forkTurn} detail={data} status={status} fail={fail} from={forkTurn} />
      )}
      <TimeBar times={cost.times} />
      <div class="run-columns">
        <div>
          {answer === '' && live.delta === '' ? null : (
            <Section title={answer === '' ? t('The model writes') : t('Answer')}>
              <Folded>
                <Markdown text={answer === '' ? live.delta : answer} />
              </Folded>
            </Section>
          )}
          {live.output === '' ? null : (
            <Section title={t('Output of the program')}>
              <pre class="output" tabIndex={0} aria-label={t('Output of the program')}>
                {visible(live.output)}
              </pre>
            </Section>
          )}
          <Tabs
            label={t('Views of the run')}
            tabs={[
              {
                id: 'steps',
                label: t('Steps'),
                content: () => (
                  <Timeline
                    id={id}
                    run={live}
                    total={elapsed}
                    target={target}
                    fork={live.isOver && isLocal ? { turns: keptTurns(data), from: startFork } : undefined}
                  />
                ),
              },
              {
                id: 'events',
                label: t('Events'),
                count: live.last,
                content: () => <EventList key={live.attempt} id={id} count={live.last} isLive={!live.isOver} />,
              },
              {
                id: 'integrity',
                label: t('Integrity'),
                content: () => <IntegrityView id={id} fail={fail} canReplay={isLocal} />,
              },
              { id: 'details', label: t('Details'), content: () => <Details detail={data} /> },
            ]}
          />
        </div>
        <aside>
          <PlanList plan={live.plan ?? data.plan} />
          <Files detail={data} isKept={!isLocal} />
        </aside>
      </div>
      <QuestionDock id={id} isRunning={isOpen} status={status} report={fail} />
    </article>
  );
}

function Spent({
  cost,
  usage,
}: {
  readonly cost: RunCost;
  readonly usage: RunDetail['usage'] | undefined;
}): JSX.Element {
  const { inputTokens, outputTokens, isEstimated = false } = usage ?? cost;
  const { cachedTokens } = cost;
  const usd = usage === undefined ? cost.usd : usage.usd;
  return (
    <>
      <span hidden={inputTokens + outputTokens === 0}>
        {t('{input} tokens in, {output} out', { input: number(inputTokens), output: number(outputTokens) })}
        {cachedTokens === 0 ? '' : ` (${t('{count} from the cache', { count: number(cachedTokens) })})`}
        {isEstimated ? ` (${t('estimated')})` : ''}
      </span>
      {usd === undefined ? null : <b>{usdText(usd)}</b>}
    </>
  );
}

function PlanList({ plan }: { readonly plan: RunDetail['plan'] }): JSX.Element | null {
  if (plan === undefined || plan.steps.length === 0) return null;
  return (
    <Section title={t('Plan')}>
      {plan.goal === '' ? null : <p class="faint">{line(plan.goal)}</p>}
      <PlanSteps steps={plan.steps} />
    </Section>
  );
}

function Files({ detail, isKept }: { readonly detail: RunDetail; readonly isKept: boolean }): JSX.Element | null {
  if (detail.files.length === 0) return null;
  return (
    <Section title={t('Output files')}>
      <ul class="plain">
        {detail.files.map(({ name, bytes: size }) => (
          <li key={name}>
            <a href={address('/runs/{id}/files/{path}', { id: detail.run.run, path: name })} download>
              {line(name)}
            </a>{' '}
            <span class="faint">{bytes(size)}</span>
          </li>
        ))}
      </ul>
      {isKept ? null : <p class="faint">{t('Kept until the console ends.')}</p>}
    </Section>
  );
}

const INTEGRITY: Readonly<Record<Answers['/runs/{id}/integrity']['status'], string>> = {
  intact: 'Every line is as it was recorded.',
  unsealed: 'The record is complete, but without a seal it may have been rewritten as a whole.',
  torn: 'The run was killed; what it wrote before is intact.',
  running: 'The run is being recorded.',
  tampered: 'The record was changed after it was written:',
  unreadable: 'This is not a record that can be read.',
};
const SEALS: Readonly<Record<string, string>> = {
  good: 'seal valid',
  bad: 'seal invalid',
  absent: 'no seal',
  'no-key': 'the key of the seal is not on this machine',
};

interface IntegrityViewProps {
  readonly id: string;
  readonly fail: (cause: unknown) => void;
  readonly canReplay: boolean;
}

function IntegrityView({ id, fail, canReplay }: IntegrityViewProps): JSX.Element {
  const { data, error } = useGet('/runs/{id}/integrity', { id });
  const [replay, setReplay] = useState<Posts['/runs/{id}/replay']['answer']>();
  useEffect(() => setReplay(undefined), [id]);
  if (data === undefined) return <Waiting error={error} />;
  return (
    <div class="integrity">
      <p>
        <State name={data.status} /> {t(INTEGRITY[data.status])}{' '}
        {data.seal === '' ? null : <span class="faint">({t(SEALS[data.seal] ?? data.seal)})</span>}
      </p>
      {/* Records of a fleet are rows of its database and have no seal. */}
      <ul class="plain">
        {data.records?.map(({ record, attempt, status }) => (
          <li key={record}>
            <State name={status} /> #{number(attempt)} <code>{line(record)}</code>
          </li>
        ))}
      </ul>
      <ul class="plain">
        {data.problems.map(({ code, path, line: at, message }, place) => (
          <li key={place}>
            <code>
              {line(path)}
              {at === undefined ? '' : `:${String(at)}`}
            </code>{' '}
            {line(message)} <span class="faint">{code}</span>
          </li>
        ))}
      </ul>
      {canReplay ? (
        <ActionButton act={async () => setReplay(await post('/runs/{id}/replay', { id }, undefined))} onError={fail}>
          {t('Replay without writes and network')}
        </ActionButton>
      ) : null}
      {replay === undefined ? null : (
        <div class="panel">
          <p>
            <State name={replay.status} /> {t('{count} actions repeated', { count: replay.steps.length })}
          </p>
          {[...replay.problems, ...replay.remarks].map((text) => (
            <p class="faint" key={text}>
              {line(text)}
            </p>
          ))}
          <ul class="plain">
            {replay.steps
              .filter(({ isSame }) => !isSame)
              .map(({ call, action, expected, got }) => (
                <li key={call}>
                  <b>{line(action)}</b>
                  <p class="faint">
                    {line(expected)} → {line(got)}
                  </p>
                </li>
              ))}
          </ul>
        </div>
      )}
    </div>
  );
}

function Details({ detail }: { readonly detail: RunDetail }): JSX.Element {
  const { run, skills, tools, approvals } = detail;
  return (
    <>
      <Facts
        facts={[
          [t('Run'), <code>{run.run}</code>],
          [t('Started'), run.startedAt && date(run.startedAt)],
          [t('Ended'), run.endedAt && date(run.endedAt)],
          [t('Continues'), detail.resumes && <a href={link('runs', detail.resumes)}>{detail.resumes}</a>],
          [t('Executor'), detail.executor === undefined ? t('no programs') : line(detail.executor)],
          [t('Skills'), listed(skills.map(({ id, digest }) => `${id} ${short(digest)}`))],
          [
            t('Tools'),
            listed(
              tools.map(({ tool, calls, failed }) => {
                const note = failed === 0 ? '' : ` (${t('{count} failed', { count: failed })})`;
                return `${tool} ${String(calls)}${note}`;
              }),
            ),
          ],
          [t('Approvals'), listed(approvals.map(({ tool, answer }) => `${tool}: ${answer}`))],
          [t('Index'), <code>{short(detail.indexHash)}</code>],
          [t('Policy'), <code>{short(detail.policyHash)}</code>],
        ]}
      />
      <Command text={`skillwright runs show ${run.run}`} />
    </>
  );
}
