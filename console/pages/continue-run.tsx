/** Forms that start a run from the record of another one: fork it, or resume it with a larger budget. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import type { RunDetail, ServerStatus } from '#server/api';
import { apiError, post } from '../client.ts';
import { t } from '../language.ts';
import { BudgetFields, ModelField, typedLimits, typedText } from '../parts/fields.tsx';
import { ActionButton } from '../parts/parts.tsx';
import { go, link } from '../route.ts';

interface FormProps {
  readonly detail: RunDetail;
  readonly fail: (cause: unknown) => void;
}

/** The last answer ended the run, so that nothing is left to do after it. */
export function keptTurns({ turns }: RunDetail): readonly number[] {
  return turns.slice(0, -1);
}

export function Fork({
  detail,
  status,
  fail,
  from,
}: FormProps & { readonly status: ServerStatus | undefined; readonly from: number }): JSX.Element {
  const [request, setRequest] = useState(detail.run.request);
  const [model, setModel] = useState('');
  const [turn, setTurn] = useState(from);
  const start = async (): Promise<void> => {
    const body = { turn, request: request === detail.run.request ? undefined : request, model: typedText(model) };
    const { run } = await post('/runs/{id}/fork', { id: detail.run.run }, body);
    go(link('runs', run));
  };
  return (
    <section class="panel form" aria-label={t('Fork this run')}>
      <h2>{t('Fork this run')}</h2>
      <label>
        {t('Request')}
        <textarea rows={3} value={request} onInput={({ currentTarget }) => setRequest(currentTarget.value)} />
      </label>
      <div class="fields">
        <label>
          {t('Keep the answers up to turn')}
          <select value={turn} onChange={({ currentTarget }) => setTurn(Number(currentTarget.value))}>
            <option value={0}>{t('none: start again')}</option>
            {keptTurns(detail).map((number_) => (
              <option key={number_} value={number_}>
                {number_}
              </option>
            ))}
          </select>
        </label>
        {status?.canChooseModel === true ? <ModelField value={model} known={status.model} change={setModel} /> : null}
      </div>
      <ActionButton kind="primary" act={start} onError={fail} disabled={request.trim() === ''}>
        {t('Start the fork')}
      </ActionButton>
    </section>
  );
}

/** A run whose budget is exhausted stops at once unless it gets more. */
export function ResumeWithBudget({ detail, fail }: FormProps): JSX.Element {
  const { usage } = detail;
  const [budget, setBudget] = useState({ turns: String(usage.turns + 12), tokens: '' });
  return (
    <section class="panel form" aria-label={t('Resume with a larger budget')}>
      <h2>{t('Resume with a larger budget')}</h2>
      <div class="fields">
        <BudgetFields
          budget={budget}
          placeholders={{ turns: t('as before'), tokens: t('as before') }}
          change={setBudget}
        />
      </div>
      <ResumeButton id={detail.run.run} budget={typedLimits(budget)} fail={fail} />
    </section>
  );
}

interface ResumeProps extends Pick<FormProps, 'fail'> {
  readonly id: string;
  readonly budget?: ReturnType<typeof typedLimits>;
}

/** A run that another run already continued is continued after a second click; the refusal says what may be repeated. */
export function ResumeButton({ id, budget, fail }: ResumeProps): JSX.Element {
  const [isAgain, setAgain] = useState(false);
  const start = async (): Promise<void> => {
    const { run } = await post('/runs/{id}/resume', { id }, { budget, again: isAgain || undefined });
    go(link('runs', run));
  };
  const refuse = (cause: unknown): void => {
    const { status, message } = apiError(cause);
    if (status === 409 && message.includes('already resumed')) setAgain(true);
    fail(cause);
  };
  return (
    <ActionButton kind="primary" act={start} onError={refuse}>
      {isAgain ? t('Resume again') : t('Resume')}
    </ActionButton>
  );
}
