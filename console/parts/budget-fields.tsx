import type { JSX } from 'preact';

import { t } from '../language.ts';

/** What a person typed; empty fields keep the budget of the placeholder. */
export interface TypedBudget {
  readonly turns: string;
  readonly tokens: string;
}

interface BudgetFieldsProps {
  readonly budget: TypedBudget;
  readonly placeholders: TypedBudget;
  readonly change: (budget: TypedBudget) => void;
}

export function BudgetFields({ budget, placeholders, change }: BudgetFieldsProps): JSX.Element {
  const field = (name: keyof TypedBudget, label: string): JSX.Element => (
    <label>
      {label}
      <input
        type="number"
        min="1"
        value={budget[name]}
        placeholder={placeholders[name]}
        onInput={({ currentTarget }) => change({ ...budget, [name]: currentTarget.value })}
      />
    </label>
  );
  return (
    <>
      {field('turns', t('Most turns'))}
      {field('tokens', t('Most tokens'))}
    </>
  );
}

/** The limits that were typed, as the API takes them. */
export function typedLimits({ turns, tokens }: TypedBudget): { readonly turns?: number; readonly tokens?: number } {
  return {
    ...(turns === '' ? {} : { turns: Number(turns) }),
    ...(tokens === '' ? {} : { tokens: Number(tokens) }),
  };
}
