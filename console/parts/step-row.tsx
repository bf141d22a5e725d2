/** One step of a run: what was done, when, what it cost, and the start of what came out. Opened, it has everything. */
import type { JSX } from 'preact';

import { usdText } from '#evals/report';
import { t } from '../language.ts';
import type { RunStep } from '../live-run.ts';
import { link } from '../route.ts';
import { stepDuration, stepSpans } from '../step-times.ts';
import { duration, line, number, visible } from '../text.ts';
import { StepContent } from './step-content.tsx';

export interface StepActions {
  readonly toggle: (key: number) => void;
  readonly focus: (key: number) => void;
  /** Starts a fork that keeps the answers up to a turn, for the turns that can be kept. */
  readonly fork?: { readonly turns: readonly number[]; readonly from: (turn: number) => void };
}

interface StepRowProps {
  readonly id: string;
  readonly step: RunStep;
  readonly isOpen: boolean;
  readonly isHit: boolean;
  readonly isActive: boolean;
  readonly actions: StepActions;
}

export function StepRow({ id, step, isOpen, isHit, isActive, actions }: StepRowProps): JSX.Element {
  const { key, row, more } = step;
  const outcome = more.findLast(({ type }) => type === 'observation');
  const answer = more.find(({ type }) => type === 'model-answer');
  const spans = stepSpans(step);
  const kind = spans.at(-1)?.kind ?? 'note';
  const tone = more.some((one) => one.tone === 'bad') ? 'bad' : (outcome?.tone ?? row.tone);
  const [word, ...rest] = titleWords(step);
  const preview = (outcome ?? answer ?? row).preview;
  const { turn = 0 } = row;
  const took = stepDuration(step, Infinity);
  return (
    <li class={`step ${tone}${isHit ? ' hit' : ''}${isActive ? ' active' : ''}`} id={`step-${String(key)}`}>
      <div class="step-line">
        <button
          type="button"
          class="step-head"
          aria-expanded={isOpen}
          onClick={() => actions.toggle(key)}
          onFocus={() => actions.focus(key)}
        >
          <span class={`kind-mark of-${kind}`} aria-hidden="true" />
          <span class="step-title">
            <b>{word}</b> {rest.join(' ')}
            {outcome === undefined ? null : <span class={`step-outcome ${outcome.tone}`}>{line(outcome.text)}</span>}
          </span>
          <span class="lane" aria-hidden="true">
            {spans.map(({ kind: part, from, to }, at) => (
              <i
                key={at}
                class={`of-${part}`}
                style={{ '--from': from, '--to': to === undefined ? undefined : Math.max(to, from) }}
              />
            ))}
          </span>
          <span class="step-tokens">{answer?.tokens === undefined ? '' : number(answer.tokens)}</span>
          <span class="step-usd">{answer?.usd === undefined ? '' : usdText(answer.usd)}</span>
          <span class="step-time">{took === undefined || took === Infinity ? '' : duration(took)}</span>
        </button>
        <a
          class="step-link"
          href={link('runs', id, 'step', String(key))}
          aria-label={`${t('Link to this step')} ${String(key)}`}
        >
          #
        </a>
      </div>
      {more.filter(isRemark).map((one) => (
        <p key={one.seq} class={`step-remark ${one.tone}`}>
          {line(one.text)}
        </p>
      ))}
      {isOpen ? (
        <div class="step-body">
          <StepContent id={id} step={step} />
          {answer !== undefined && actions.fork?.turns.includes(turn) === true ? (
            <button type="button" class="small" onClick={() => actions.fork?.from(turn)}>
              {t('Fork after this answer…')}
            </button>
          ) : null}
        </div>
      ) : preview === undefined ? null : (
        <pre class="step-preview">{visible(preview.trim())}</pre>
      )}
    </li>
  );
}

/** What a reader must not miss: a rule that forbids, and who answered a question. */
function isRemark({ type, tone }: RunStep['row']): boolean {
  return (type === 'decision' && tone === 'bad') || type === 'approval-answer';
}

function titleWords({ row, more }: RunStep): readonly string[] {
  if (row.type === 'model-call') {
    const answer = more.find(({ type }) => type === 'model-answer');
    return [line(row.model ?? ''), answer === undefined ? t('is answering…') : line(answer.text)];
  }
  if (row.type === 'action') return line(row.text).split(' ');
  return ['', line(row.text)];
}
