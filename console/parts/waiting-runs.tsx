import type { JSX } from 'preact';

import type { Answers } from '#server/api';
import { useVersion } from '../changes.ts';
import { useGet } from '../hooks.ts';
import { t } from '../language.ts';
import { useMay } from '../rights.ts';
import { link } from '../route.ts';
import { date, line } from '../text.ts';
import { State } from './parts.tsx';

/** Runs that wait for an answer come first, whatever the list below is filtered by. */
export function WaitingRuns(): JSX.Element | null {
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
