/** Two runs side by side. */
import type { JSX } from 'preact';

import type { RunComparison, RunDetail } from '#server/api';
import { useGet } from '../hooks.ts';
import { t } from '../language.ts';
import { Markdown } from '../parts/markdown.tsx';
import { Section, State, Waiting } from '../parts/parts.tsx';
import { link } from '../route.ts';
import { date, duration, line, number } from '../text.ts';

export function ComparePage({ left, right }: { readonly left: string; readonly right: string }): JSX.Element {
  const { data, error } = useGet<RunComparison>('/comparison', { left, right });
  if (data === undefined) return <Waiting error={error} />;
  const rows: readonly (readonly [string, (detail: RunDetail) => string])[] = [
    [t('Started'), ({ run }) => date(run.startedAt ?? '')],
    [t('Model'), ({ usage }) => usage.models.map(line).join(', ')],
    [t('Turns'), ({ usage }) => number(usage.turns)],
    [t('Tool calls'), ({ usage }) => number(usage.toolCalls)],
    [t('Tokens'), ({ usage }) => number(usage.inputTokens + usage.outputTokens)],
    [t('Time'), ({ usage }) => duration(usage.elapsedMs)],
    [t('Skills'), ({ skills }) => skills.map(({ name }) => line(name)).join(', ') || '–'],
  ];
  const same = data.steps.filter(({ isSame }) => isSame).length;
  return (
    <div class="page">
      <a class="back" href={link('runs')}>
        {t('All runs')}
      </a>
      <h1>{t('Compare two runs')}</h1>
      <div class="table-box" tabIndex={0} role="region" aria-label={t('Facts of both runs')}>
        <table class="compare">
          <thead>
            <tr>
              <th scope="col">{t('Request')}</th>
              {[data.left, data.right].map(({ run }) => (
                <th scope="col" key={run.run}>
                  <a href={link('runs', run.run)}>{line(run.request.slice(0, 120))}</a>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <tr>
              <th scope="row">{t('Outcome')}</th>
              {[data.left, data.right].map(({ run }) => (
                <td key={run.run}>
                  <State name={run.state} />
                </td>
              ))}
            </tr>
            {rows.map(([name, value]) => (
              <tr key={name} class={value(data.left) === value(data.right) ? '' : 'differs'}>
                <th scope="row">{name}</th>
                <td>{value(data.left)}</td>
                <td>{value(data.right)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <h2>{t('Steps: {same} equal, {other} different', { same, other: data.steps.length - same })}</h2>
      {data.isCut ? <p class="faint">{t('Only the first 1,000 steps of each run are compared.')}</p> : null}
      <div class="table-box" tabIndex={0} role="region" aria-label={t('Steps of both runs')}>
        <table class="compare steps-table">
          <tbody>
            {data.steps.map(({ left: one, right: other, isSame }, at) => (
              <tr key={at} class={isSame ? 'same' : 'differs'}>
                <td>{one === undefined ? '' : line(one.text)}</td>
                <td>{other === undefined ? '' : line(other.text)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="side-by-side">
        {[data.left, data.right].map(({ run, answer }) => (
          <Section key={run.run} title={t('Answer')}>
            <Markdown text={answer} />
          </Section>
        ))}
      </div>
    </div>
  );
}
