/** Runs, failures and cost over time, and per skill, of the runs that the list shows. */
import type { JSX } from 'preact';

import { usdText } from '#evals/report';
import type { Answers } from '#server/api';
import { counted, t } from '../language.ts';
import { line, number } from '../text.ts';

type Statistics = Answers['/run-statistics'];

interface RunChartsProps {
  readonly data: Statistics | undefined;
  readonly chooseDay: (day: string) => void;
  readonly chooseSkill: (skill: string) => void;
}

export function RunCharts({ data, chooseDay, chooseSkill }: RunChartsProps): JSX.Element {
  const days = data?.days ?? [];
  const most = Math.max(1, ...days.map(({ runs }) => runs));
  const dearest = Math.max(...days.map(({ usd }) => usd), 0);
  return (
    <div class="run-charts">
      <figure class="panel">
        <figcaption>
          <b>{t('Runs per day')}</b> <span class="faint">{t('failed ones are red')}</span>
        </figcaption>
        <ol class="day-bars">
          {days.map(({ day, runs, failed, tokens, usd }) => {
            const about = `${day}: ${counted('{count} runs', runs)}, ${t('{count} failed', { count: failed })}, ${counted('{count} tokens', tokens)}, ${usdText(usd)}`;
            return (
              <li key={day}>
                <button type="button" aria-label={about} title={about} onClick={() => chooseDay(day)}>
                  <i class="good" style={{ height: `${String((100 * (runs - failed)) / most)}%` }} />
                  <i class="bad" style={{ height: `${String((100 * failed) / most)}%` }} />
                </button>
              </li>
            );
          })}
        </ol>
        <DayRange days={days} />
      </figure>
      <figure class="panel">
        <figcaption>
          <b>{t('Money per day')}</b>{' '}
          <span class="faint">
            {dearest === 0 ? t('no price known') : t('up to {money}', { money: usdText(dearest) })}
          </span>
        </figcaption>
        <ol class="day-bars" aria-hidden="true">
          {days.map(({ day, usd }) => (
            <li key={day} title={`${day}: ${usdText(usd)}`}>
              <i class="money" style={{ height: `${String(dearest === 0 ? 0 : (100 * usd) / dearest)}%` }} />
            </li>
          ))}
        </ol>
        <DayRange days={days} />
      </figure>
      <figure class="panel">
        <figcaption>
          <b>{t('Per skill')}</b>
        </figcaption>
        <ul class="skill-bars">
          {(data?.skills ?? []).slice(0, SKILLS).map(({ skill, runs, failed, usd, tokens }) => (
            <li key={skill}>
              <button type="button" class="link" onClick={() => chooseSkill(skill)}>
                {line(skill)}
              </button>
              <span>{counted('{count} runs', runs)}</span>
              <span class={failed === 0 ? 'faint' : 'bad'}>{t('{count} failed', { count: failed })}</span>
              <span class="faint">{usd === 0 ? counted('{count} tokens', tokens) : usdText(usd)}</span>
            </li>
          ))}
        </ul>
        {data === undefined || data.unread === 0 ? null : (
          <p class="faint" role="status">
            {t('The cost of {count} runs is still being read.', { count: number(data.unread) })}
          </p>
        )}
      </figure>
    </div>
  );
}

const SKILLS = 5;

function DayRange({ days }: { readonly days: Statistics['days'] }): JSX.Element {
  return (
    <div class="day-range faint" aria-hidden="true">
      <span>{days[0]?.day ?? ''}</span>
      <span>{days.length > 1 ? days.at(-1)?.day : ''}</span>
    </div>
  );
}
