import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import type { Answers } from '#server/api';
import { useVersion } from '../changes.ts';
import { get } from '../client.ts';
import { useChunks, useGet } from '../hooks.ts';
import { counted, t } from '../language.ts';
import { Choice } from '../parts/fields.tsx';
import { Empty, Loading, NoMatch } from '../parts/parts.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { SkillBadges } from '../parts/skill-badges.tsx';
import { ChunkList } from '../parts/virtual-list.tsx';
import { link } from '../route.ts';
import { line, number } from '../text.ts';
import { SkillView } from './skill.tsx';

type SkillRow = Answers['/skills']['skills'][number];

interface SkillsProps {
  readonly id: string | undefined;
  /** A fleet server shows skills and changes none. */
  readonly canInstall: boolean;
}

export function SkillsPage({ id, canInstall }: SkillsProps): JSX.Element {
  const [query, setQuery] = useState('');
  const [filter, setFilter] = useState({ source: '', state: '', agent: '' });
  const version = useVersion('skills');
  const { data } = useGet('/scan', {}, version);
  const chunks = useChunks<SkillRow>(JSON.stringify([query, filter, version]), async (offset, limit, signal) => {
    const { skills, total } = await get('/skills', { query, ...filter, offset, limit }, signal);
    return { items: skills, total };
  });
  const isFiltered = query !== '' || Object.values(filter).some((value) => value !== '');
  return (
    <div class={id === undefined ? 'split alone' : 'split'}>
      <section class="list-side">
        <div class="page-title">
          <h1>{t('Skills')}</h1>
          {canInstall ? (
            <a class="button" href={link('install')}>
              {t('Install…')}
            </a>
          ) : null}
        </div>
        <div class="filters" role="search">
          <SearchField label={t('Search skills')} value={query} change={setQuery} />
          {(
            [
              ['source', t('Source'), data?.facets.sources],
              ['state', t('State'), data?.facets.states],
              ['agent', t('Agent'), data?.facets.agents],
            ] as const
          ).map(([name, label, facets = []]) => (
            <Choice
              key={name}
              label={label}
              value={filter[name]}
              change={(value) => setFilter({ ...filter, [name]: value })}
              options={[
                ['', label],
                ...facets.map((facet) => [facet.name, `${line(t(facet.name))} (${number(facet.count)})`] as const),
              ]}
            />
          ))}
        </div>
        <p class="faint count-line" role="status">
          {chunks.isLoaded ? counted('{count} skills', chunks.total) : t('Loading…')}
        </p>
        <ChunkList
          class="skill-list"
          chunks={chunks}
          rowHeight={68}
          rowClass="skill-line"
          label={t('Skills')}
          row={(row) => <SkillLine row={row} isCurrent={row.id === id} />}
          empty={
            isFiltered ? (
              <NoMatch title={t('No skill matches')} />
            ) : (
              <Empty title={t('No skills found')} command="skillwright new my-skill">
                <p>{t('Install skills from a folder, a repository or an address, or create one:')}</p>
              </Empty>
            )
          }
        />
        <LeftOut list={data} />
      </section>
      {id === undefined ? null : (
        <section class="detail-side">
          <SkillView key={id} id={id} version={version} canInstall={canInstall} />
        </section>
      )}
    </div>
  );
}

function SkillLine({ row, isCurrent }: { readonly row: SkillRow; readonly isCurrent: boolean }): JSX.Element {
  return (
    <a class="skill-line" href={link('skills', row.id)} aria-current={isCurrent ? 'true' : undefined}>
      <span class="skill-head">
        <b>{line(row.name)}</b>
        <span class="faint">{line(row.source)}</span>
        <SkillBadges row={row} />
        <span class="faint tokens">{counted('{count} tokens', row.tokens)}</span>
      </span>
      <span class="skill-about">{line(row.description)}</span>
    </a>
  );
}

function LeftOut({ list }: { readonly list: Answers['/scan'] | undefined }): JSX.Element | null {
  if (list === undefined) return <Loading />;
  if (list.leftOutTotal === 0) return null;
  return (
    <details class="panel left-out">
      <summary>{counted('Left out: {count} folders', list.leftOutTotal)}</summary>
      <ul>
        {list.leftOut.map(({ path, code, message }) => (
          <li key={path}>
            <code>{line(path)}</code>
            <p>
              {line(message)} <span class="faint">{code}</span>
            </p>
          </li>
        ))}
      </ul>
    </details>
  );
}
