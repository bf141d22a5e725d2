/** The timeline of a run: requests with their context sections, actions with decisions and outcomes. */
import type { JSX } from 'preact';

import { CONTEXT_SECTIONS } from '../../evals/page/view.ts';
import type { ContextSection, RunStep, RunView, TurnView } from '../../evals/page/view.ts';
import { t } from '../language.ts';
import { PlanSteps, Section } from '../parts/parts.tsx';
import { duration, line, number, visible } from '../text.ts';
import { part } from './marks.tsx';

const NAMES: Readonly<Record<ContextSection, string>> = {
  rest: 'instructions, tools, request',
  catalog: 'catalog',
  bodies: 'skill bodies',
  resources: 'resources',
  observations: 'observations and answers',
};

export function Timeline({ view }: { readonly view: RunView }): JSX.Element {
  const { turns, steps } = view;
  const most = Math.max(1, ...turns.map(({ tokens }) => tokens));
  const numbers = [...new Set([...turns, ...steps].map(({ turn }) => turn))].toSorted((a, b) => a - b);
  const used = CONTEXT_SECTIONS.filter((name) => turns.some(({ sections }) => sections[name] > 0));
  return (
    <Section title={t('Run')}>
      <p>
        <code>{line(view.run)}</code> {line(view.outcome)}
        {view.reason === '' ? '' : `: ${line(view.reason)}`} <span class="faint">{duration(view.elapsedMs)}</span>{' '}
        {view.isTorn ? <span class="bad">{t('the record is incomplete')}</span> : null}
      </p>
      <ul class="legend">
        {used.map((name) => (
          <li key={name}>
            <span class={`swatch ${name}`} aria-hidden="true" />
            {t(NAMES[name])}
          </li>
        ))}
      </ul>
      {numbers.map((turn) => (
        <div class="turn" key={turn}>
          <h3>{turn === 0 ? t('Before the first turn') : t('Turn {number}', { number: turn })}</h3>
          {turns
            .filter((one) => one.turn === turn)
            .map((one, at) => (
              <ContextBar key={at} turn={one} most={most} />
            ))}
          <ol class="turn-steps">
            {steps
              .filter((one) => one.turn === turn)
              .map((step) => (
                <TimelineStep key={step.events[0]} step={step} />
              ))}
          </ol>
        </div>
      ))}
      {view.stepsLeftOut === 0 ? null : (
        <p class="faint">
          {t('{count} steps from the middle are only in the record', { count: number(view.stepsLeftOut) })}
        </p>
      )}
    </Section>
  );
}

/** The size of a request relative to the largest one, split into sections. */
function ContextBar({ turn, most }: { readonly turn: TurnView; readonly most: number }): JSX.Element {
  const { tokens, sections, inputTokens, outputTokens } = turn;
  const parts = CONTEXT_SECTIONS.filter((name) => sections[name] > 0);
  const text = (name: ContextSection): string => `${t(NAMES[name])} ${number(sections[name])}`;
  return (
    <div class="context">
      <span class="context-bar" role="img" aria-label={parts.map(text).join(', ')}>
        <span class="fill" style={{ width: part(tokens / most) }}>
          {parts.map((name) => (
            <span key={name} class={name} title={text(name)} style={{ flexGrow: String(sections[name]) }} />
          ))}
        </span>
      </span>
      <span class="faint">
        {t('{count} tokens', { count: number(tokens) })}
        {inputTokens === undefined ? '' : ` · ${t('in')} ${number(inputTokens)}`}
        {outputTokens === undefined ? '' : ` · ${t('out')} ${number(outputTokens)}`}
      </span>
    </div>
  );
}

function TimelineStep({ step }: { readonly step: RunStep }): JSX.Element {
  const { events, atMs, kind, tone, text, lines, tookMs, plan } = step;
  return (
    <li class={`turn-step ${kind} ${tone}`} data-events={events.join(' ')} tabIndex={-1}>
      <span class="faint time">{duration(atMs)}</span>
      <span class="faint kind">{t(kind)}</span>
      <div>
        <div class="step-head">
          {line(text)} {tookMs === undefined ? null : <span class="faint">{duration(tookMs)}</span>}
        </div>
        {plan === undefined ? null : <PlanSteps steps={plan.steps} />}
        {lines.map(({ label, tone: own, text: more }, at) => (
          <div key={at} class={`step-line ${own}`}>
            <span class="faint">{label}</span> <span class="text">{visible(more)}</span>
          </div>
        ))}
      </div>
    </li>
  );
}
