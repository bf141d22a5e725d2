/** One skill: instructions, files, problems, what it may do, cost, trust and versions. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import type { Answers } from '#server/api';
import { post } from '../client.ts';
import { useFailure, useGet } from '../hooks.ts';
import { t } from '../language.ts';
import { Diff } from '../parts/diff.tsx';
import { LongText } from '../parts/long-text.tsx';
import { Markdown } from '../parts/markdown.tsx';
import {
  ActionButton,
  Badge,
  Card,
  Command,
  Empty,
  Facts,
  Problem,
  State,
  Tabs,
  Waiting,
  listed,
} from '../parts/parts.tsx';
import { SkillBadges } from '../parts/skill-badges.tsx';
import { useMay } from '../rights.ts';
import { link } from '../route.ts';
import { bytes, date, line, number, short } from '../text.ts';

type SkillDetail = Answers['/skills/{id}'];

interface SkillProps {
  readonly id: string;
  readonly version: string;
  readonly canInstall: boolean;
}

export function SkillView({ id, version, canInstall }: SkillProps): JSX.Element {
  const { data, error, reload } = useGet('/skills/{id}', { id }, version);
  const mayAsk = useMay('submit');
  if (data === undefined) return <Waiting error={error} />;
  const { skill, tokens } = data;
  const installed = data.installed === undefined ? '' : `skills=${encodeURIComponent(skill.name)}`;
  return (
    <article class="skill">
      <a class="back" href={link('skills')}>
        {t('All skills')}
      </a>
      <header class="skill-title">
        <h2>{line(skill.name)}</h2>
        <SkillBadges row={skill} />
        <span class="actions">
          {mayAsk ? (
            <a class="button primary" href={`${link('ask')}?skill=${encodeURIComponent(skill.name)}`}>
              {t('Ask with it')}
            </a>
          ) : null}
          {data.installed === undefined || !canInstall ? null : (
            <>
              <a class="button" href={`${link('install')}?action=update&${installed}`}>
                {t('Update…')}
              </a>
              <a class="button" href={`${link('install')}?action=uninstall&${installed}`}>
                {t('Uninstall…')}
              </a>
            </>
          )}
        </span>
      </header>
      <p class="lead">{line(skill.description)}</p>
      {data.trust.trusted ? null : (
        <div class="banner warning">
          <p>{line(data.trust.reason ?? '')}</p>
          <Command text={data.trust.command ?? ''} />
        </div>
      )}
      <div class="cards">
        <Card label={t('In the catalog')} value={number(tokens.catalog)} notes={[t('tokens in every request')]} />
        <Card label={t('When it is loaded')} value={number(tokens.body)} notes={[t('tokens of instructions')]} />
        <Card label={t('All its files')} value={number(tokens.files)} notes={[t('tokens, read only when needed')]} />
      </div>
      <Tabs
        label={t('Parts of the skill')}
        tabs={[
          { id: 'body', label: t('Instructions'), content: () => <Body detail={data} /> },
          { id: 'access', label: t('What it may do'), content: () => <Powers detail={data} /> },
          { id: 'files', label: t('Files'), count: data.files.length, content: () => <Files detail={data} /> },
          {
            id: 'problems',
            label: t('Problems'),
            count: data.diagnostics.length,
            content: () => <Problems detail={data} reload={canInstall ? reload : undefined} />,
          },
          { id: 'about', label: t('Trust and versions'), content: () => <About detail={data} /> },
        ]}
      />
    </article>
  );
}

function Body({ detail }: { readonly detail: SkillDetail }): JSX.Element {
  if (detail.body.trim() === '') return <Empty title={t('This skill has no instructions')} />;
  return (
    <>
      <Markdown text={detail.body} />
      {detail.isBodyCut ? <p class="faint">{t('The rest is not shown.')}</p> : null}
    </>
  );
}

function Powers({ detail: { powers } }: { readonly detail: SkillDetail }): JSX.Element {
  const list = (items: readonly string[], otherwise: string): JSX.Element =>
    items.length === 0 ? (
      <span class="faint">{otherwise}</span>
    ) : (
      <span class="words">
        {items.map((item) => (
          <code key={item}>{line(item)}</code>
        ))}
      </span>
    );
  const chosen = { user: t('only you'), model: t('only the model'), both: t('the model or you') };
  return (
    <Facts
      facts={[
        [t('Chosen by'), chosen[powers.chosenBy]],
        [
          t('Tools it asks for'),
          powers.allowedTools === undefined ? (
            <span class="faint">{t('no statement: the rules of the policy apply')}</span>
          ) : (
            list(powers.allowedTools, t('none'))
          ),
        ],
        [t('Tools it forbids'), list(powers.deniedTools, t('none'))],
        [t('Scripts'), list(powers.scripts, t('none'))],
        [t('Needs on the machine'), list(powers.requires, t('nothing'))],
        [t('Network of its programs'), list(powers.hosts, t('none'))],
        [t('Secrets of its programs'), list(powers.secrets, t('none'))],
        [t('Suggested for files'), list(powers.paths, t('none'))],
        [t('Runs'), powers.runMode === 'subagent' ? t('in a subagent') : t('in the same conversation')],
      ]}
    />
  );
}

function Files({ detail }: { readonly detail: SkillDetail }): JSX.Element {
  const [open, setOpen] = useState<string>();
  return (
    <div class="files">
      <ul>
        {detail.files.map((file) => (
          <li key={file.path}>
            <button
              type="button"
              class="link"
              aria-expanded={open === file.path}
              onClick={() => setOpen(open === file.path ? undefined : file.path)}
            >
              {line(file.path)}
            </button>
            <span class="faint">
              {bytes(file.bytes)} · {t(file.kind)}
              {file.isExecutable ? ` · ${t('executable')}` : ''}
              {file.isLink ? ` · ${t('link')}` : ''}
            </span>
            {open === file.path ? <FileText id={detail.skill.id} path={file.path} /> : null}
          </li>
        ))}
      </ul>
      {detail.isFilesCut ? <p class="faint">{t('There are more files.')}</p> : null}
    </div>
  );
}

function FileText({ id, path }: { readonly id: string; readonly path: string }): JSX.Element {
  const { data, error } = useGet('/skills/{id}/files/{path}', { id, path });
  if (data === undefined) return <Waiting error={error} />;
  if (data.isBinary) return <p class="faint">{t('A binary file is not shown.')}</p>;
  return <LongText text={data.text} label={path} />;
}

interface ProblemsProps {
  readonly detail: SkillDetail;
  /** Absent where the skill cannot be changed. */
  readonly reload: (() => void) | undefined;
}

function Problems({ detail, reload }: ProblemsProps): JSX.Element {
  const [error, fail] = useFailure();
  const { repair, skill } = detail;
  if (detail.diagnostics.length === 0) return <Empty title={t('No problems: the skill follows the specification')} />;
  const apply = async (text: string): Promise<void> => {
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
    const before = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    await post('/skills/{id}/repair', { id: skill.id }, { before });
    fail();
    reload?.();
  };
  return (
    <>
      <Problem error={error} />
      <ul class="diagnostics">
        {detail.diagnostics.map(({ code, severity, path, line: at, message, hint }, place) => (
          <li key={place}>
            <State name={severity} />
            <div>
              <p>{line(message)}</p>
              <p class="faint">
                {line(path)}:{at} · {code} · {line(hint)}
              </p>
            </div>
          </li>
        ))}
      </ul>
      {repair === undefined || reload === undefined ? null : (
        <div class="panel">
          <h3>{t('Repair')}</h3>
          <Diff before={repair.before} after={repair.after} label={t('What the repair changes in SKILL.md')} />
          <ActionButton kind="primary" act={() => apply(repair.before)} onError={fail}>
            {t('Repair SKILL.md')}
          </ActionButton>
        </div>
      )}
    </>
  );
}

function About({ detail }: { readonly detail: SkillDetail }): JSX.Element {
  const { skill, installed, others, trust } = detail;
  return (
    <>
      <Facts
        facts={[
          [
            t('Trust'),
            trust.trusted ? <Badge tone="good">{t('trusted')}</Badge> : <Badge tone="warning">{t('untrusted')}</Badge>,
          ],
          [t('Digest of all files'), <code title={detail.treeDigest}>{short(detail.treeDigest ?? '')}</code>],
          [t('Folder'), <code>{line(detail.dir)}</code>],
          [t('Version'), skill.version && line(skill.version)],
          [t('License'), detail.license && line(detail.license)],
          [t('Compatibility'), detail.compatibility && line(detail.compatibility)],
          [t('Seen by'), listed(skill.agents) ?? t('no agent on this machine')],
        ]}
      />
      <h3>{t('Installed from')}</h3>
      {installed === undefined ? (
        <p class="faint">{t('It was not installed with Skillwright: it lies in this folder.')}</p>
      ) : (
        <Facts
          facts={[
            [t('Source'), <code>{line(installed.source)}</code>],
            [t('Installed'), date(installed.installedAt)],
            [t('Revision'), installed.revision && line(installed.revision)],
            [t('Digest in the lock'), <code title={installed.digest}>{short(installed.digest)}</code>],
            [t('Signed by'), installed.signedBy && line(installed.signedBy)],
          ]}
        />
      )}
      {others.length === 0 ? null : (
        <>
          <h3>{t('Skills of the same name')}</h3>
          <ul class="plain">
            {others.map(({ dir, source, version, reason }) => (
              <li key={dir}>
                {line(source)} {version === undefined ? '' : line(version)} <code>{line(dir)}</code>{' '}
                <span class="faint">{reason}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
