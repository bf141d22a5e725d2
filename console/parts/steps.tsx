/** The steps of a run. Arguments, results and diffs are read when a step is opened. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import type { EventRow } from '#server/api';
import { useChunks, useGet } from '../hooks.ts';
import { get } from '../client.ts';
import { t } from '../language.ts';
import type { LiveRun, RunStep } from '../live-run.ts';
import { duration, line, number } from '../text.ts';
import { Diff } from './diff.tsx';
import { JsonView, LongText } from './long-text.tsx';
import { Empty, Loading, Waiting } from './parts.tsx';
import { ChunkList } from './virtual-list.tsx';

interface StepsProps {
  readonly id: string;
  readonly run: LiveRun;
  /** Starts a fork that keeps the answers up to a turn, for the turns that can be kept. */
  readonly fork?: { readonly turns: readonly number[]; readonly from: (turn: number) => void };
}

export function Steps({ id, run, fork }: StepsProps): JSX.Element {
  if (run.steps.length === 0) return run.isOver ? <Empty title={t('This run has no steps')} /> : <Loading />;
  return (
    <>
      {run.stepsLeftOut === 0 ? null : (
        <p class="faint">{t('{count} earlier steps: see the events', { count: number(run.stepsLeftOut) })}</p>
      )}
      <ol class="steps" key={run.attempt}>
        {run.steps.map((step) => (
          <Step key={step.key} id={id} step={step} fork={fork} />
        ))}
      </ol>
    </>
  );
}

interface StepProps {
  readonly id: string;
  readonly step: RunStep;
  readonly fork: StepsProps['fork'];
}

function Step({ id, step, fork }: StepProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const { row, more } = step;
  const { turn = 0 } = row;
  const tone = more.find((one) => one.tone === 'bad')?.tone ?? more.at(-1)?.tone ?? row.tone;
  const end = more.findLast(({ type }) => type === 'observation');
  return (
    <li class={`step ${tone}`}>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <span class="dot" aria-hidden="true" />
          <span class="step-text">{line(row.text)}</span>
          <span class="faint time">{duration(row.at)}</span>
        </summary>
        {isOpen ? (
          <div class="step-body">
            {[row, ...more]
              .filter(
                ({ type }) =>
                  type === 'action' || type === 'observation' || type === 'approval-ask' || more.length === 0,
              )
              .map(({ seq }) => (
                <EventView key={seq} id={id} seq={seq} />
              ))}
            {row.type === 'model-answer' && fork?.turns.includes(turn) === true ? (
              <button type="button" class="small" onClick={() => fork.from(turn)}>
                {t('Fork after this answer…')}
              </button>
            ) : null}
          </div>
        ) : null}
      </details>
      {more
        .filter(({ type }) => type === 'decision' || type === 'approval-answer')
        .map((one) => (
          <p key={one.seq} class={`step-line ${one.tone}`}>
            {line(one.text)}
          </p>
        ))}
      {end === undefined ? null : <p class={`step-line ${end.tone}`}>{line(end.text)}</p>}
    </li>
  );
}

function EventView({ id, seq }: { readonly id: string; readonly seq: number }): JSX.Element {
  const { data, error } = useGet('/runs/{id}/events/{seq}', { id, seq });
  if (data === undefined) return <Waiting error={error} />;
  return (
    <div class="event-view">
      <EventContent event={toObject(data.event)} />
      {data.isCut ? <p class="faint">{t('Long texts are cut; export the run for the whole record.')}</p> : null}
    </div>
  );
}

function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function EventContent({ event }: { readonly event: Readonly<Record<string, unknown>> }): JSX.Element {
  const { type: _, call: __, ...rest } = event;
  const action = toObject(event['action']);
  const result = toObject(toObject(event['observation'])['result']);
  const detail = toObject(toObject(event['request'])['detail']);
  if (detail['kind'] === 'write')
    return <Diff before={toText(detail['before'])} after={toText(detail['after'])} label={toText(detail['path'])} />;
  if (action['type'] === 'edit_file')
    return (
      <>
        <code>{line(toText(action['path']))}</code>
        <Diff before={toText(action['oldText'])} after={toText(action['newText'])} label={toText(action['path'])} />
      </>
    );
  if (typeof result['stdout'] === 'string') {
    const { stdout, stderr, ...others } = result;
    return (
      <>
        {toText(stdout) === '' ? null : <LongText text={toText(stdout)} label={t('Output')} />}
        {toText(stderr) === '' ? null : <LongText text={toText(stderr)} label={t('Errors')} />}
        <JsonView value={others} />
      </>
    );
  }
  if (event['action'] !== undefined) return <JsonView value={action} />;
  return <JsonView value={event['observation'] === undefined ? rest : toObject(event['observation'])} />;
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

interface EventListProps {
  readonly id: string;
  readonly count: number;
  readonly isLive: boolean;
}

/** All events as one line each; five thousand scroll smoothly. */
export function EventList({ id, count, isLive }: EventListProps): JSX.Element {
  const [open, setOpen] = useState<number>();
  const chunks = useChunks<EventRow>(
    id,
    async (offset, limit, signal) => {
      const { rows } = await get('/runs/{id}/rows', { id, from: offset + 1, limit }, signal);
      return { items: rows, total: offset + rows.length };
    },
    count,
  );
  return (
    <div class="events">
      <ChunkList
        class="event-list"
        chunks={chunks}
        rowHeight={30}
        rowClass="event"
        label={t('Events')}
        isTail={isLive}
        row={(row) => (
          <button
            type="button"
            class={`event ${row.tone}`}
            aria-pressed={open === row.seq}
            onClick={() => setOpen(open === row.seq ? undefined : row.seq)}
          >
            <span class="faint seq">{row.seq}</span>
            <span class="faint time">{duration(row.at)}</span>
            <span class="kind">{row.type}</span>
            <span class="event-text">{line(row.text)}</span>
          </button>
        )}
      />
      {open === undefined ? null : (
        <div class="panel">
          <h3>{t('Event {number}', { number: open })}</h3>
          <EventView key={open} id={id} seq={open} />
        </div>
      )}
    </div>
  );
}
