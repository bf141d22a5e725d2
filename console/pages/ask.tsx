/** A request with files, a model and a budget; the run streams below. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import type { ServerStatus } from '#server/api';
import { post, remove, upload } from '../client.ts';
import { useFailure } from '../hooks.ts';
import { t } from '../language.ts';
import { BudgetFields, ModelField, TextField, typedLimits, typedText } from '../parts/fields.tsx';
import { ModeSwitch } from '../parts/mode-switch.tsx';
import { ActionButton, Problem } from '../parts/parts.tsx';
import { go, link } from '../route.ts';
import { bytes, line, number } from '../text.ts';
import { RunPanel } from './run.tsx';

interface AskProps {
  readonly status: ServerStatus | undefined;
  readonly run: string | undefined;
  readonly query: URLSearchParams;
}

export function AskPage({ status, run, query }: AskProps): JSX.Element {
  const [request, setRequest] = useState('');
  const [skill, setSkill] = useState(query.get('skill') ?? '');
  const [model, setModel] = useState('');
  const [budget, setBudget] = useState({ turns: '', tokens: '' });
  const [files, setFiles] = useState<readonly File[]>([]);
  const [isOver, setOver] = useState(false);
  const [error, fail] = useFailure();
  const start = async (): Promise<void> => {
    fail();
    const uploads = (await Promise.all(files.map((file) => upload(file)))).map(({ id }) => id);
    const body = {
      request,
      skills: skill.trim() === '' ? undefined : [skill.trim()],
      model: typedText(model),
      uploads: uploads.length === 0 ? undefined : uploads,
      budget: typedLimits(budget),
    };
    const started = await post('/runs', {}, body).catch(async (cause: unknown) => {
      // The next try uploads the files again.
      await Promise.allSettled(uploads.map((id) => remove('/uploads/{id}', { id })));
      throw cause;
    });
    setFiles([]);
    go(link('ask', started.run));
  };
  const add = (list: FileList | null | undefined): void =>
    setFiles([...files, ...(list === null || list === undefined ? [] : [...list])]);
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    add(event.dataTransfer?.files);
  };
  const submit = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || request.trim() === '') return;
    event.preventDefault();
    start().catch(fail);
  };
  const form = (
    <section
      class={`panel form ask ${isOver ? 'over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <label>
        {t('Request')}
        <textarea
          rows={4}
          value={request}
          placeholder={t('What should be done? Drop files here that it needs.')}
          onInput={({ currentTarget }) => setRequest(currentTarget.value)}
          onKeyDown={submit}
        />
      </label>
      {files.length === 0 ? null : (
        <ul class="chips">
          {files.map((file, at) => (
            <li key={`${file.name}${String(at)}`}>
              {line(file.name)} <span class="faint">{bytes(file.size)}</span>
              <button
                type="button"
                class="small"
                aria-label={t('Remove {name}', { name: file.name })}
                onClick={() => setFiles(files.filter((one) => one !== file))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class="fields">
        {status?.limits.uploadBytes === 0 ? null : (
          <label class="file-button">
            {t('Files')}
            <input type="file" multiple onChange={({ currentTarget }) => add(currentTarget.files)} />
          </label>
        )}
        <TextField
          label={t('Skill to load first')}
          value={skill}
          placeholder={t('the model chooses')}
          change={setSkill}
        />
        {status?.canChooseModel === false ? null : (
          <ModelField value={model} known={status?.model ?? ''} change={setModel} />
        )}
        <BudgetFields
          budget={budget}
          placeholders={{
            turns: String(status?.budget['turns'] ?? ''),
            tokens: number(status?.budget['tokens'] ?? 0),
          }}
          change={setBudget}
        />
      </div>
      <div class="actions">
        <ActionButton kind="primary" act={start} disabled={request.trim() === ''} onError={fail}>
          {t('Run')}
        </ActionButton>
        <ModeSwitch status={status} report={fail} />
        <span class="faint">
          {status === undefined ? '' : `${line(status.model)}: ${line(status.reason)}`}
          {status?.model === 'rules'
            ? `. ${t('It is not a language model: it follows the quickstart of a skill.')}`
            : ''}
        </span>
      </div>
      <Problem error={error} />
    </section>
  );
  return (
    <div class="page">
      <h1>{t('Ask')}</h1>
      {/* A run that is followed has the room: its question must be in view. */}
      {run === undefined ? (
        form
      ) : (
        <details key={run} class="ask-more">
          <summary>{t('Ask something else')}</summary>
          {form}
        </details>
      )}
      {run === undefined ? null : <RunPanel key={run} id={run} status={status} />}
    </div>
  );
}
