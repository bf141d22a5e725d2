/** Install, update and uninstall: the plan with its findings first, then exactly that plan. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import type { Posts } from '#server/api';
import { post } from '../client.ts';
import { useFailure } from '../hooks.ts';
import { counted, t } from '../language.ts';
import { TextField } from '../parts/fields.tsx';
import { ActionButton, Badge, Empty, Problem, State } from '../parts/parts.tsx';
import { link } from '../route.ts';
import { line } from '../text.ts';

type Action = Posts['/packs/plan']['body']['action'];
type PackPlan = Posts['/packs/plan']['answer'];

const TITLES: Readonly<Record<Action, string>> = {
  install: 'Install skills',
  update: 'Update skills',
  uninstall: 'Uninstall skills',
};

export function InstallPage({ query }: { readonly query: URLSearchParams }): JSX.Element {
  const named = query.get('action');
  const action: Action = named === 'update' || named === 'uninstall' ? named : 'install';
  const [source, setSource] = useState('');
  const [names, setNames] = useState(query.get('skills') ?? '');
  const [plan, setPlan] = useState<PackPlan>();
  const [done, setDone] = useState<readonly string[]>();
  const [error, fail] = useFailure();
  const request = {
    action,
    source: action === 'install' ? source : undefined,
    skills: names.split(/[\s,]+/).filter((name) => name !== ''),
  };
  const makePlan = async (): Promise<void> => {
    fail();
    setDone(undefined);
    setPlan(undefined);
    setPlan(await post('/packs/plan', {}, request));
  };
  const apply = async (digest: string): Promise<void> => {
    fail();
    const { names: changed } = await post('/packs/apply', {}, { ...request, digest });
    setPlan(undefined);
    setDone(changed);
  };
  return (
    <div class="page">
      <div class="page-title">
        <h1>{t(TITLES[action])}</h1>
        <a class="button" href={link('skills')}>
          {t('All skills')}
        </a>
      </div>
      <section class="panel form">
        {action === 'install' ? (
          <TextField
            label={t('Source')}
            value={source}
            placeholder="owner/repo, https://…, ./folder, pack.zip"
            change={setSource}
          />
        ) : null}
        <TextField
          label={t('Skills')}
          value={names}
          placeholder={action === 'uninstall' ? t('names') : t('all')}
          change={setNames}
        />
        <ActionButton
          kind="primary"
          disabled={action === 'install' ? source.trim() === '' : action === 'uninstall' && names.trim() === ''}
          act={makePlan}
          onError={fail}
        >
          {t('Show the plan')}
        </ActionButton>
        <p class="faint">{t('Nothing is changed before you confirm. Skills are scanned; their code does not run.')}</p>
      </section>
      <Problem error={error} />
      {done === undefined ? null : (
        <div class="banner good" role="status">
          {done.length === 0
            ? t('Nothing had to be changed.')
            : t('Done: {names}', { names: done.map(line).join(', ') })}
        </div>
      )}
      {plan === undefined ? null : <Plan plan={plan} action={action} apply={apply} fail={fail} />}
    </div>
  );
}

interface PlanProps {
  readonly plan: PackPlan;
  readonly action: Action;
  readonly apply: (digest: string) => Promise<void>;
  readonly fail: (problem: unknown) => void;
}

function Plan({ plan, action, apply, fail }: PlanProps): JSX.Element {
  const changing = plan.skills.filter(({ change }) => change !== 'same');
  const findings = plan.skills.reduce((sum, skill) => sum + skill.findings.length, 0);
  const label = { install: t('Install'), update: t('Update'), uninstall: t('Uninstall') }[action];
  return (
    <section class="panel plan">
      <h2>{t('Plan')}</h2>
      <p class="faint">
        {t('Folder')}: <code>{line(plan.root)}</code>
      </p>
      {plan.skills.length + plan.refused.length === 0 ? <Empty title={t('Everything is up to date')} /> : null}
      <ul class="plan-list">
        {plan.skills.map((skill) => (
          <li key={skill.name}>
            <div class="plan-head">
              <b>{line(skill.name)}</b>
              {skill.version === undefined ? null : <span class="faint">{line(skill.version)}</span>}
              <Badge tone={skill.change === 'remove' ? 'bad' : skill.change === 'same' ? 'faint' : 'info'}>
                {t(skill.change)}
              </Badge>
              {skill.files > 0 ? <span class="faint">{counted('{count} files', skill.files)}</span> : null}
            </div>
            <p>{line(skill.description)}</p>
            {skill.findings.length === 0 ? null : (
              <ul class="findings">
                {skill.findings.map(({ severity, rule, path, line: at, message }, place) => (
                  <li key={place}>
                    <State name={severity} /> {line(message)}{' '}
                    <span class="faint">
                      {line(path)}:{at} · {rule}
                    </span>
                  </li>
                ))}
              </ul>
            )}
            {skill.notes.map((note) => (
              <p class="faint note" key={note}>
                {line(note)}
              </p>
            ))}
          </li>
        ))}
        {plan.refused.map(({ name, code, message, hint }) => (
          <li key={name}>
            <div class="plan-head">
              <b>{line(name)}</b>
              <Badge tone="bad">{t('refused')}</Badge>
            </div>
            <p>
              {line(message)} <span class="faint">{code}</span>
            </p>
            <p class="faint">{line(hint)}</p>
          </li>
        ))}
      </ul>
      {changing.length === 0 ? null : (
        <div class="actions">
          <ActionButton kind="primary" act={() => apply(plan.digest)} onError={fail}>
            {label} ({changing.length})
          </ActionButton>
          {findings === 0 ? null : (
            <span class="faint">{t('{count} findings: read them before you confirm.', { count: findings })}</span>
          )}
        </div>
      )}
    </section>
  );
}
