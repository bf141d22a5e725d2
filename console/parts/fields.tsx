/** Fields of forms: a label with a text, a choice, and the budget of a run. */
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';

import { t } from '../language.ts';

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly change: (value: string) => void;
}

interface TextFieldProps extends FieldProps {
  readonly placeholder?: string;
  readonly isNumber?: boolean;
  readonly offers?: readonly string[];
  readonly onEnter?: () => void;
  readonly class?: string;
}

export function TextField({ label, value, change, offers, isNumber, onEnter, ...props }: TextFieldProps): JSX.Element {
  const list = useId();
  return (
    <label class={props.class}>
      {label}
      <input
        type={isNumber === true ? 'number' : 'text'}
        min={isNumber === true ? 1 : undefined}
        list={offers === undefined ? undefined : list}
        value={value}
        placeholder={props.placeholder}
        onInput={({ currentTarget }) => change(currentTarget.value)}
        onKeyDown={({ key }) => {
          if (key === 'Enter') onEnter?.();
        }}
      />
      {offers === undefined ? null : (
        <datalist id={list}>
          {offers.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      )}
    </label>
  );
}

/** The model of a run; `known` is the one that is used if the field is empty. */
export function ModelField({ known, ...field }: Omit<FieldProps, 'label'> & { readonly known: string }): JSX.Element {
  return (
    <TextField
      {...field}
      label={t('Model')}
      placeholder={known}
      offers={['rules', 'auto', 'ollama', 'anthropic', 'openai', 'google']}
    />
  );
}

interface ChoiceProps extends FieldProps {
  readonly options: readonly (readonly [value: string, text: string])[];
}

export function Choice({ label, value, change, options }: ChoiceProps): JSX.Element {
  return (
    <select value={value} aria-label={label} onChange={({ currentTarget }) => change(currentTarget.value)}>
      {options.map(([name, text]) => (
        <option key={name} value={name}>
          {text}
        </option>
      ))}
    </select>
  );
}

/** What a person typed; empty fields keep the budget of the placeholder. */
interface TypedBudget {
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
    <TextField
      label={label}
      value={budget[name]}
      placeholder={placeholders[name]}
      isNumber
      change={(value) => change({ ...budget, [name]: value })}
    />
  );
  return (
    <>
      {field('turns', t('Most turns'))}
      {field('tokens', t('Most tokens'))}
    </>
  );
}

export function typedLimits({ turns, tokens }: TypedBudget): { readonly turns?: number; readonly tokens?: number } {
  return {
    turns: turns === '' ? undefined : Number(turns),
    tokens: tokens === '' ? undefined : Number(tokens),
  };
}

/** What was typed without blanks around it; undefined if that is empty. */
export function typedText(text: string): string | undefined {
  return text.trim() === '' ? undefined : text.trim();
}
