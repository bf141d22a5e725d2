import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import type { Answers } from '#server/api';
import { useVersion } from '../changes.ts';
import { get } from '../client.ts';
import { useChunks, useGet } from '../hooks.ts';
import { counted, t } from '../language.ts';
import { Choice } from '../parts/fields.tsx';
import { Empty, State } from '../parts/parts.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { ChunkList } from '../parts/virtual-list.tsx';
import { useMay } from '../rights.ts';
import { link } from '../route.ts';
import { date, duration, line } from '../text.ts';

type RunRow = Answers['/runs']['runs'][number];

const STATES = ['running', 'done', 'degraded', 'failed', 'refused', 'cancelled', 'killed', 'unreadable'] as const;

export function RunsPage(): JSX.Element {
  const version = useVersion('runs', 'newest', 'active');
  const mayAsk = useMay('submit');
  const [query, setQuery] = useState('');
  const [state, setState] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const chunks = useChunks<RunRow>(JSON.stringify([query, state, version]), async (offset, limit, signal) => {
    const { runs, total } = await get('/runs', { offset, limit, query, state }, signal);
    return { items: runs, total };
  });
  const toggle = (run: string): void =>
    setChosen(chosen.includes(run) ? chosen.filter((one) => one !== run) : [...chosen.slice(-1), run]);
  const [left, right] = chosen;
  return (
    <div class="page full">
      <div class="page-title">
        <h1>{t('Runs')}</h1>
        <a
          class={`button ${right === undefined ? 'disabled' : 'primary'}`}
          aria-disabled={right === undefined}
          href={left === undefined || right === undefined ? link('runs') : link('runs', 'compare', left, right)}
        >
          {right === undefined ? t('Choose two runs to compare') : t('Compare two runs')}
        </a>
      </div>
      <WaitingRuns />
      <div class="filters" role="search">
        <SearchField label={t('Search requests and skills')} value={query} change={setQuery} />
        <Choice
          label={t('Outcome')}
          value={state}
          change={setState}
          options={[['', t('Outcome')], ...STATES.map((name) => [name, t(name)] as const)]}
        />
      </div>
      <p class="faint count-line" role="status">
        {counted('{count} runs', chunks.total)}
      </p>
      <ChunkList
        class="run-list"
        chunks={chunks}
        rowHeight={64}
        rowClass="run-line"
        label={t('Runs')}
        row={(row) => <RunLine row={row} isChosen={chosen.includes(row.run)} toggle={toggle} />}
        empty={
          <Empty
            title={query === '' && state === '' ? t('No runs yet') : t('No run matches')}
            command='skillwright run "What is in this file?" --in data.csv'
          >
            {mayAsk ? (
              <p>
                {t('Start one here:')} <a href={link('ask')}>{t('Ask')}</a>. {t('Or in a terminal:')}
              </p>
            ) : null}
          </Empty>
        }
      />
    </div>
  );
}

/** Runs that wait for an answer come first, whatever the list below is filtered by. */
function WaitingRuns(): JSX.Element | null {
  const { data } = useGet(useMay('approve') ? '/approvals' : undefined, {}, useVersion('questions', 'answered'));
  const waiting = (data?.pending ?? []).filter(({ run, isAnswered }) => run !== undefined && !isAnswered);
  if (waiting.length === 0) return null;
  return (
    <section class="waiting-runs" aria-label={t('Waiting for you')}>
      <h2>{t('Waiting for you')}</h2>
      <ul>
        {waiting.map(({ id, run = '', tool, detail, at }) => (
          <li key={id}>
            <State name="waiting" />
            <a href={link('runs', run)}>
              {line(tool)} {line(questionSubject(detail))}
            </a>
            <span class="faint">{date(at)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function questionSubject(detail: Answers['/approvals']['pending'][number]['detail']): string {
  if ('path' in detail) return detail.path;
  if ('command' in detail) return detail.command.slice(0, MAX_SUBJECT);
  if ('url' in detail) return detail.url;
  return 'script' in detail ? detail.script : '';
}

const MAX_SUBJECT = 100;

interface RunLineProps {
  readonly row: RunRow;
  readonly isChosen: boolean;
  readonly toggle: (run: string) => void;
}

function RunLine({ row, isChosen, toggle }: RunLineProps): JSX.Element {
  const { usage } = row;
  return (
    <div class="run-line">
      <input
        type="checkbox"
        checked={isChosen}
        aria-label={t('Compare {name}', { name: row.run })}
        onChange={() => toggle(row.run)}
      />
      <a href={link('runs', row.run)}>
        <span class="run-request">{row.request === '' ? row.run : line(row.request)}</span>
        <span class="run-about faint">
          <State name={row.state} />
          <span>{row.startedAt === undefined ? row.run : date(row.startedAt)}</span>
          {row.skills.length === 0 ? null : <span>{row.skills.map(line).join(', ')}</span>}
          {usage === undefined ? null : (
            <>
              <span>{usage.models.map(line).join(', ')}</span>
              <span>{counted('{count} tokens', usage.inputTokens + usage.outputTokens)}</span>
              <span>{duration(usage.elapsedMs)}</span>
            </>
          )}
        </span>
      </a>
    </div>
  );
}
