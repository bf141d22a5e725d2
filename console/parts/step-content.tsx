/** What went into a step and what came out of it, read from the record when the step is opened. */
import type { ComponentChild, JSX } from 'preact';

import { useGet } from '../hooks.ts';
import { t } from '../language.ts';
import type { RunStep } from '../live-run.ts';
import { line } from '../text.ts';
import { ContentView } from './content.tsx';
import { Diff } from './diff.tsx';
import { JsonTree } from './json-tree.tsx';
import { JsonView, LongText } from './long-text.tsx';
import { Markdown } from './markdown.tsx';
import { Waiting } from './parts.tsx';

type Fields = Readonly<Record<string, unknown>>;

/** Events of a step that are worth opening. The decision and its rule are among them, because the row leaves them out. */
const OPENED: ReadonlySet<string> = new Set([
  'action',
  'decision',
  'approval-ask',
  'approval-answer',
  'observation',
  'model-answer',
]);

export function StepContent({ id, step: { row, more } }: { readonly id: string; readonly step: RunStep }): JSX.Element {
  const rows = [row, ...more].filter(({ type }) => more.length === 0 || OPENED.has(type));
  return (
    <>
      {rows.map(({ seq, type, text }) =>
        type === 'decision' || type === 'approval-answer' ? (
          <p key={seq} class="faint">
            {line(text)}
          </p>
        ) : (
          <EventView key={seq} id={id} seq={seq} />
        ),
      )}
    </>
  );
}

export function EventView({ id, seq }: { readonly id: string; readonly seq: number }): JSX.Element {
  const { data, error } = useGet('/runs/{id}/events/{seq}', { id, seq });
  if (data === undefined) return <Waiting error={error} />;
  return (
    <div class="event-view">
      <EventContent event={toObject(data.event)} />
      {data.isCut ? <p class="faint">{t('Long texts are cut; export the run for the whole record.')}</p> : null}
    </div>
  );
}

function EventContent({ event }: { readonly event: Fields }): JSX.Element {
  switch (event['type']) {
    case 'action':
      return <Titled title={t('Input')}>{actionContent(toObject(event['action']))}</Titled>;
    case 'approval-ask':
      return <Titled title={t('Question')}>{questionContent(toObject(event['request']))}</Titled>;
    case 'observation':
      return <Titled title={t('Output')}>{outcomeContent(toObject(event['observation']))}</Titled>;
    case 'model-answer':
      return <ModelAnswer event={event} />;
    default: {
      const { type: _, call: __, ...rest } = event;
      return <JsonView value={rest} />;
    }
  }
}

function Titled({ title, children }: { readonly title: string; readonly children: ComponentChild }): JSX.Element {
  return (
    <>
      <b class="part-title">{title}</b>
      {children}
    </>
  );
}

function actionContent(action: Fields): JSX.Element {
  const path = toText(action['path']);
  switch (action['type']) {
    case 'edit_file':
      return (
        <>
          <code>{line(path)}</code>
          <Diff before={toText(action['oldText'])} after={toText(action['newText'])} label={path} />
        </>
      );
    case 'write_file':
      return (
        <>
          <code>{line(path)}</code>
          <ContentView text={toText(action['content'])} label={path} name={path} />
        </>
      );
    case 'run_command':
    case 'start_command': {
      const { type: _, command, ...others } = action;
      return (
        <>
          <LongText text={toText(command)} label={t('Command')} />
          {isEmpty(others) ? null : <JsonView value={others} />}
        </>
      );
    }
    case 'final_answer':
      // The page shows it formatted, above the steps.
      return <LongText text={toText(action['answer'])} label={t('Answer')} />;
    default: {
      const { type: _, ...fields } = action;
      return <JsonView value={fields} />;
    }
  }
}

function questionContent(request: Fields): JSX.Element {
  const detail = toObject(request['detail']);
  if (detail['kind'] === 'write')
    return <Diff before={toText(detail['before'])} after={toText(detail['after'])} label={toText(detail['path'])} />;
  if (detail['kind'] === 'command') return <LongText text={toText(detail['command'])} label={t('Command')} />;
  return <JsonView value={detail} />;
}

function outcomeContent(observation: Fields): JSX.Element {
  const { type, action: _, skill: __, limits: ___, ...fields } = observation;
  const result = toObject(observation['result']);
  if (typeof result['stdout'] === 'string') return <ProgramOutput result={result} />;
  if (type === 'answered') return <p class="faint">{t('Shown above')}</p>;
  if (typeof fields['text'] !== 'string' || fields['text'] === '') return <JsonView value={fields} />;
  const { text, ...others } = fields;
  const path = toText(observation['path']) || toText(toObject(observation['report'])['path']);
  return (
    <>
      <ContentView text={toText(text)} label={t('Output')} name={path} />
      <Rest fields={others} />
    </>
  );
}

function ProgramOutput({ result }: { readonly result: Fields }): JSX.Element {
  const { stdout, stderr, ...others } = result;
  return (
    <>
      {toText(stdout) === '' ? null : <ContentView text={toText(stdout)} label={t('Output')} />}
      {toText(stderr) === '' ? null : (
        <Titled title={t('Errors')}>
          <LongText text={toText(stderr)} label={t('Errors')} />
        </Titled>
      )}
      <Rest fields={others} />
    </>
  );
}

/** What is there besides the text: sizes, digests, limits. */
function Rest({ fields }: { readonly fields: Fields }): JSX.Element | null {
  if (isEmpty(fields)) return null;
  return (
    <details class="rest">
      <summary class="faint">{t('Details')}</summary>
      <JsonView value={fields} />
    </details>
  );
}

function ModelAnswer({ event }: { readonly event: Fields }): JSX.Element {
  const calls: readonly unknown[] = Array.isArray(event['toolCalls']) ? event['toolCalls'] : [];
  const { type: _, text, toolCalls: __, turn: ___, ...others } = event;
  return (
    <>
      {toText(text) === '' ? null : <Markdown text={toText(text)} />}
      {calls.map(toObject).map(({ name, input }, at) => (
        <Titled key={at} title={line(toText(name))}>
          <JsonTree value={input} label={line(toText(name))} />
        </Titled>
      ))}
      <Rest fields={others} />
    </>
  );
}

function isEmpty(fields: Fields): boolean {
  return Object.keys(fields).length === 0;
}

function toObject(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
