/** What a model sees of all skills under a budget. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import type { Answers } from '#server/api';
import { useVersion } from '../changes.ts';
import { useGet } from '../hooks.ts';
import { counted, t } from '../language.ts';
import { LongText } from '../parts/long-text.tsx';
import { Badge, Empty, Section, Tabs, Waiting, type Tone } from '../parts/parts.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { line, number } from '../text.ts';

const LEAST = 100;
const MOST = 40_000;
type CatalogView = Answers['/catalog'];
type Form = CatalogView['entries'][number]['form'];

const FORMS: Readonly<Record<Form, readonly [label: string, tone: Tone]>> = {
  full: ['full', 'good'],
  shortened: ['shortened', 'info'],
  nameOnly: ['name only', 'warning'],
  omitted: ['omitted', 'bad'],
  hidden: ['hidden', 'faint'],
};

/** The slider is logarithmic: small budgets matter most. */
const toSlider = (budget: number): number => Math.round((Math.log(budget / LEAST) / Math.log(MOST / LEAST)) * 1_000);
const fromSlider = (value: number): number => {
  const budget = LEAST * (MOST / LEAST) ** (value / 1_000);
  return budget < 1_000 ? Math.round(budget / 10) * 10 : Math.round(budget / 100) * 100;
};

export function CatalogPage(): JSX.Element {
  const [budget, setBudget] = useState<number>();
  const { data, error } = useGet('/catalog', { budget }, useVersion('skills'));
  if (data === undefined) return <Waiting error={error} />;
  const shown = budget ?? data.budget;
  return (
    <div class="page">
      <h1>{t('Catalog and cost')}</h1>
      <section class="panel">
        <label class="slider">
          <span>{t('Budget of the catalog')}</span>
          <input
            type="range"
            min="0"
            max="1000"
            value={toSlider(shown)}
            aria-valuetext={counted('{count} tokens', shown)}
            onInput={({ currentTarget }) => setBudget(fromSlider(Number(currentTarget.value)))}
          />
          <output>{counted('{count} tokens', shown)}</output>
        </label>
        <TokenBar data={data} />
        <ul class="legend">
          {Object.entries(FORMS).map(([form, [label]]) => (
            <li key={form}>
              <span class={`swatch ${form}`} aria-hidden="true" />
              {t(label)} <b>{number(data.entries.filter((entry) => entry.form === form).length)}</b>
            </li>
          ))}
        </ul>
        {data.tokens > data.budget ? (
          <p class="warning-text">{t('Pinned skills and the frame are never shortened, so the budget is exceeded.')}</p>
        ) : null}
      </section>
      <Section title={t('Tokens of every request, before a skill is loaded')}>
        <RequestParts data={data} />
      </Section>
      <Tabs
        label={t('Views of the catalog')}
        tabs={[
          { id: 'entries', label: t('Skills'), count: data.entries.length, content: () => <Entries data={data} /> },
          {
            id: 'text',
            label: t('Text for the model'),
            content: () => <LongText text={data.text} label={t('Text for the model')} />,
          },
        ]}
      />
    </div>
  );
}

function TokenBar({ data: { parts, tokens, budget } }: { readonly data: CatalogView }): JSX.Element {
  const whole = Math.max(tokens, budget, 1);
  const pieces = (['full', 'shortened', 'nameOnly', 'frame'] as const).filter((part) => parts[part] > 0);
  const text = t('{used} of {budget} tokens used', { used: number(tokens), budget: number(budget) });
  return (
    <div class="token-bar-box">
      <div class="token-bar" role="img" aria-label={text}>
        {pieces.map((part) => (
          <span
            key={part}
            class={part}
            style={{ width: `${String((parts[part] / whole) * 100)}%` }}
            title={`${part}: ${number(parts[part])}`}
          />
        ))}
      </div>
      <p class="faint">{text}</p>
    </div>
  );
}

function RequestParts({ data: { request } }: { readonly data: CatalogView }): JSX.Element {
  const most = Math.max(1, ...request.map(({ tokens }) => tokens));
  return (
    <ul class="bars">
      {request.map(({ part, tokens }) => (
        <li key={part}>
          <span>{t(part)}</span>
          <span class="bar" aria-hidden="true">
            <span style={{ width: `${String((tokens / most) * 100)}%` }} />
          </span>
          <b>{number(tokens)}</b>
        </li>
      ))}
    </ul>
  );
}

function Entries({ data: { entries } }: { readonly data: CatalogView }): JSX.Element {
  if (entries.length === 0) return <Empty title={t('No skills found')} command="skillwright new my-skill" />;
  return (
    <VirtualList
      class="entry-list"
      count={entries.length}
      rowHeight={40}
      label={t('Skills')}
      row={(index) => {
        const entry = entries[index];
        if (entry === undefined) return null;
        return (
          <div class="entry">
            <b>{line(entry.name)}</b>
            <span class="faint">{line(entry.source)}</span>
            <Badge tone={FORMS[entry.form][1]}>{t(FORMS[entry.form][0])}</Badge>
            <span class="faint tokens">{counted('{count} tokens', entry.tokens)}</span>
          </div>
        );
      }}
    />
  );
}
