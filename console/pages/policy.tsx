/** The rules in force, why something is allowed, and what the sandbox blocks here. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import type { Answers, Posts } from '#server/api';
import { useVersion } from '../changes.ts';
import { post } from '../client.ts';
import { useFailure, useGet } from '../hooks.ts';
import { t } from '../language.ts';
import { TextField } from '../parts/fields.tsx';
import {
  ActionButton,
  Badge,
  Command,
  Empty,
  Facts,
  Problem,
  Section,
  State,
  Waiting,
  listed,
} from '../parts/parts.tsx';
import { Table } from '../report/marks.tsx';
import { line } from '../text.ts';

export function PolicyPage(): JSX.Element {
  const { data, error } = useGet('/policy', {}, useVersion());
  if (data === undefined) return <Waiting error={error} />;
  return (
    <div class="page">
      <h1>{t('Policy')}</h1>
      <Explain tools={data.tools} />
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

function Explain({ tools }: { readonly tools: readonly string[] }): JSX.Element {
  const [tool, setTool] = useState('run_command');
  const [subject, setSubject] = useState('');
  const [skill, setSkill] = useState('');
  const [decision, setDecision] = useState<Posts['/policy/explain']['answer']>();
  const [error, fail] = useFailure();
  const explain = async (): Promise<void> => {
    fail();
    const skills = skill.trim() === '' ? undefined : [skill.trim()];
    setDecision(await post('/policy/explain', {}, { tool, subject: subject || undefined, skills }));
  };
  return (
    <Section title={t('Why is this allowed?')}>
      <div class="fields explain">
        <TextField label={t('Tool')} value={tool} change={setTool} offers={tools} />
        <TextField
          class="wide"
          label={t('Argument')}
          value={subject}
          placeholder={t('a command, a path, an address or a skill')}
          change={setSubject}
          onEnter={() => void explain().catch(fail)}
        />
        <TextField label={t('Loaded skill')} value={skill} placeholder={t('none')} change={setSkill} />
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
              [t('Reaches'), listed(decision.capabilities, '; ')],
            ]}
          />
        </div>
      )}
    </Section>
  );
}

function Matrix(): JSX.Element {
  const [isWanted, setWanted] = useState(false);
  const { data, error } = useGet(isWanted ? '/isolation' : undefined);
  return (
    <Section title={t('What the sandbox blocks on this machine')}>
      {isWanted ? (
        data === undefined ? (
          <Waiting error={error} />
        ) : (
          <MatrixTable isolation={data} />
        )
      ) : (
        <>
          <p class="faint">{t('Harmless programs try to escape from each executor. This takes some seconds.')}</p>
          <button type="button" class="primary" onClick={() => setWanted(true)}>
            {t('Probe now')}
          </button>
        </>
      )}
    </Section>
  );
}

function MatrixTable({ isolation }: { readonly isolation: Answers['/isolation'] }): JSX.Element {
  const tried = isolation.executors.filter(({ results }) => results.length > 0);
  const names = [...new Set(tried.flatMap(({ results }) => results.map(({ name }) => name)))];
  const missing = isolation.executors.filter(({ results }) => results.length === 0);
  return (
    <>
      {tried.length === 0 ? <Empty title={t('No executor works here')} command="skillwright doctor" /> : null}
      <Table
        label={t('What the sandbox blocks on this machine')}
        class="matrix"
        heads={[
          t('Attempt'),
          ...tried.map(({ name, isIsolating }) => [
            `${name} `,
            isIsolating ? null : <Badge tone="warning">{t('weak')}</Badge>,
          ]),
        ]}
      >
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
      </Table>
      {missing.map(({ name, reasons, install }) => (
        <div class="missing" key={name}>
          <b>{name}</b> <span class="faint">{reasons.map(line).join('; ')}</span>
          {install === '' ? null : <Command text={install} />}
        </div>
      ))}
    </>
  );
}
