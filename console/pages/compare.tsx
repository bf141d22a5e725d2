import type { JSX } from 'preact';

import type { RunDetail } from '#server/api';
import { useGet } from '../hooks.ts';
import { t } from '../language.ts';
import { Markdown } from '../parts/markdown.tsx';
import { Section, State, Waiting } from '../parts/parts.tsx';
import { Table } from '../report/marks.tsx';
import { link } from '../route.ts';
import { date, duration, line, number } from '../text.ts';

export function ComparePage({ left, right }: { readonly left: string; readonly right: string }): JSX.Element {
  const { data, error } = useGet('/comparison', { left, right });
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
  const both = [data.left, data.right];
  const same = data.steps.filter(({ isSame }) => isSame).length;
  return (
    <div class="page">
      <a class="back" href={link('runs')}>
        {t('All runs')}
      </a>
      <h1>{t('Compare two runs')}</h1>
      <Table
        label={t('Facts of both runs')}
        class="compare"
        heads={[
          t('Request'),
          ...both.map(({ run }) => <a href={link('runs', run.run)}>{line(run.request.slice(0, 120))}</a>),
        ]}
      >
        <tr>
          <th scope="row">{t('Outcome')}</th>
          {both.map(({ run }) => (
            <td key={run.run}>
              <State name={run.state} />
            </td>
          ))}
        </tr>
        {rows.map(([name, value]) => (
          <tr key={name} class={value(data.left) === value(data.right) ? '' : 'differs'}>
            <th scope="row">{name}</th>
            {both.map((detail) => (
              <td key={detail.run.run}>{value(detail)}</td>
            ))}
          </tr>
        ))}
      </Table>
      <h2>{t('Steps: {same} equal, {other} different', { same, other: data.steps.length - same })}</h2>
      {data.isCut ? <p class="faint">{t('Only the first 1,000 steps of each run are compared.')}</p> : null}
      <Table label={t('Steps of both runs')} class="compare steps-table">
        {data.steps.map(({ left: one, right: other, isSame }, at) => (
          <tr key={at} class={isSame ? 'same' : 'differs'}>
            <td>{line(one?.text ?? '')}</td>
            <td>{line(other?.text ?? '')}</td>
          </tr>
        ))}
      </Table>
      <div class="side-by-side">
        {both.map(({ run, answer }) => (
          <Section key={run.run} title={t('Answer')}>
            <Markdown text={answer} />
          </Section>
        ))}
      </div>
    </div>
  );
}
