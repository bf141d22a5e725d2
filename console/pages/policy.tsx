/** The rules in force, why something is allowed, and what the sandbox blocks here. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import type { DecisionView, Isolation, PolicyView } from '#server/api';
import { useNews } from '../changes.ts';
import { apiError, post, type ApiError } from '../client.ts';
import { useGet } from '../hooks.ts';
import { t } from '../language.ts';
import {
  ActionButton,
  Badge,
  Command,
  Empty,
  Facts,
  Loading,
  Problem,
  Section,
  State,
  Waiting,
} from '../parts/parts.tsx';
import { line } from '../text.ts';

export function PolicyPage(): JSX.Element {
  const { connection } = useNews();
  const { data, error } = useGet<PolicyView>('/policy', {}, connection);
  if (data === undefined) return <Waiting error={error} />;
  return (
    <div class="page">
      <h1>{t('Policy')}</h1>
      <Explain policy={data} />
      <Section title={t('Rules in force')}>
        <p class="faint">{t('Each layer decides by itself, and the strictest decision wins.')}</p>
        {data.layers.map(({ origin, rules, otherwise }, place) => (
          <details key={place} class="layer" open={rules.length > 0 && rules.length < 12}>
            <summary>
              <b>{t(origin.layer)}</b> <span class="faint">{line(origin.where)}</span>
              <span class="count">{rules.length}</span>
            </summary>
            {rules.length === 0 ? <p class="faint">{t('No rules')}</p> : null}
            <ul class="rules">
              {rules.map(({ effect, rule, origin: from }, at) => (
                <li key={at}>
                  <State name={effect} />
                  <code>{line(rule)}</code>
                  <span class="faint">{line(from.where)}</span>
                </li>
              ))}
            </ul>
            <p class="faint">
              {t('Otherwise')}:{' '}
              {Object.entries(otherwise)
                .map(([risk, effect]) => `${t(risk)} ${t(effect)}`)
                .join(', ')}
            </p>
          </details>
        ))}
      </Section>
      <Matrix />
    </div>
  );
}

function Explain({ policy }: { readonly policy: PolicyView }): JSX.Element {
  const [tool, setTool] = useState('run_command');
  const [subject, setSubject] = useState('');
  const [skill, setSkill] = useState('');
  const [decision, setDecision] = useState<DecisionView>();
  const [error, setError] = useState<ApiError>();
  const explain = async (): Promise<void> => {
    setError(undefined);
    const request = {
      tool,
      ...(subject === '' ? {} : { subject }),
      ...(skill.trim() === '' ? {} : { skills: [skill.trim()] }),
    };
    setDecision(await post<DecisionView>('/policy/explain', request));
  };
  const fail = (cause: unknown): void => setError(apiError(cause));
  return (
    <Section title={t('Why is this allowed?')}>
      <div class="fields explain">
        <label>
          {t('Tool')}
          <input type="text" list="tools" value={tool} onInput={({ currentTarget }) => setTool(currentTarget.value)} />
        </label>
        <datalist id="tools">
          {policy.tools.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <label class="wide">
          {t('Argument')}
          <input
            type="text"
            value={subject}
            placeholder={t('a command, a path, an address or a skill')}
            onInput={({ currentTarget }) => setSubject(currentTarget.value)}
            onKeyDown={({ key }) => {
              if (key === 'Enter') explain().catch(fail);
            }}
          />
        </label>
        <label>
          {t('Loaded skill')}
          <input
            type="text"
            value={skill}
            placeholder={t('none')}
            onInput={({ currentTarget }) => setSkill(currentTarget.value)}
          />
        </label>
        <ActionButton kind="primary" act={explain} onError={fail} disabled={tool.trim() === ''}>
          {t('Explain')}
        </ActionButton>
      </div>
      <Problem error={error} />
      {decision === undefined ? null : (
        <div class="decision" role="status">
          <p>
            <State name={decision.effect} /> {line(decision.reason)}
          </p>
          <Facts
            facts={[
              [t('Rule'), <code>{line(decision.rule)}</code>],
              [t('From'), `${t(decision.origin.layer)} ${line(decision.origin.where)}`],
              [t('Risk'), <State name={decision.risk} />],
              [t('Reaches'), decision.capabilities.length === 0 ? '–' : decision.capabilities.map(line).join('; ')],
            ]}
          />
        </div>
      )}
    </Section>
  );
}

function Matrix(): JSX.Element {
  const [isWanted, setWanted] = useState(false);
  const { data, error } = useGet<Isolation>(isWanted ? '/isolation' : undefined);
  return (
    <Section title={t('What the sandbox blocks on this machine')}>
      {isWanted ? null : (
        <>
          <p class="faint">{t('Harmless programs try to escape from each executor. This takes some seconds.')}</p>
          <button type="button" class="primary" onClick={() => setWanted(true)}>
            {t('Probe now')}
          </button>
        </>
      )}
      <Problem error={error} />
      {isWanted && data === undefined && error === undefined ? <Loading /> : null}
      {data === undefined ? null : <MatrixTable isolation={data} />}
    </Section>
  );
}

function MatrixTable({ isolation }: { readonly isolation: Isolation }): JSX.Element {
  const tried = isolation.executors.filter(({ results }) => results.length > 0);
  const names = [...new Set(tried.flatMap(({ results }) => results.map(({ name }) => name)))];
  const missing = isolation.executors.filter(({ results }) => results.length === 0);
  return (
    <>
      {tried.length === 0 ? <Empty title={t('No executor works here')} command="skillwright doctor" /> : null}
      <div class="table-box" tabIndex={0} role="region" aria-label={t('What the sandbox blocks on this machine')}>
        <table class="matrix">
          <thead>
            <tr>
              <th scope="col">{t('Attempt')}</th>
              {tried.map(({ name, isIsolating }) => (
                <th scope="col" key={name}>
                  {name} {isIsolating ? null : <Badge tone="warning">{t('weak')}</Badge>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {names.map((attempt) => (
              <tr key={attempt}>
                <th scope="row">{line(t(attempt))}</th>
                {tried.map(({ name, results }) => {
                  const verdict = results.find((result) => result.name === attempt)?.verdict ?? '–';
                  return (
                    <td key={name}>
                      <Badge tone={verdict === 'blocked' ? 'good' : verdict === 'open' ? 'bad' : 'faint'}>
                        {t(verdict)}
                      </Badge>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {missing.map(({ name, reasons, install }) => (
        <div class="missing" key={name}>
          <b>{name}</b> <span class="faint">{reasons.map(line).join('; ')}</span>
          {install === '' ? null : <Command text={install} />}
        </div>
      ))}
    </>
  );
}
