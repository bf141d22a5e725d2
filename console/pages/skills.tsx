import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import type { ScanView, SkillList } from '#server/api';
import { useChange, useNews } from '../changes.ts';
import { get } from '../client.ts';
import { useChunks, useGet } from '../hooks.ts';
import { counted, t } from '../language.ts';
import { Empty, Loading, Problem } from '../parts/parts.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { SkillBadges } from '../parts/skill-badges.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { link } from '../route.ts';
import { line, number } from '../text.ts';
import { SkillView } from './skill.tsx';

/** A skill takes two lines. */
const ROW_HEIGHT = 68;

interface SkillsProps {
  readonly id: string | undefined;
  /** A fleet server shows skills and changes none. */
  readonly canInstall: boolean;
}

export function SkillsPage({ id, canInstall }: SkillsProps): JSX.Element {
  const { changes, connection } = useNews();
  const [query, setQuery] = useState('');
  const [filter, setFilter] = useState({ source: '', state: '', agent: '' });
  const version = `${useChange(changes?.skills)} ${String(connection)}`;
  const { data } = useGet<ScanView>('/scan', {}, version);
  const chunks = useChunks<SkillList['skills'][number]>(
    JSON.stringify([query, filter, version]),
    async (offset, limit, signal) => {
      const found = await get<SkillList>('/skills', { query, ...filter, offset, limit }, signal);
      return { items: found.skills, total: found.total };
    },
  );
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
          <FacetSelect
            label={t('Source')}
            value={filter.source}
            facets={data?.facets.sources}
            choose={(source) => setFilter({ ...filter, source })}
          />
          <FacetSelect
            label={t('State')}
            value={filter.state}
            facets={data?.facets.states}
            choose={(state) => setFilter({ ...filter, state })}
          />
          <FacetSelect
            label={t('Agent')}
            value={filter.agent}
            facets={data?.facets.agents}
            choose={(agent) => setFilter({ ...filter, agent })}
          />
        </div>
        <p class="faint count-line" role="status">
          {chunks.isLoaded ? counted('{count} skills', chunks.total) : t('Loading…')}
        </p>
        <Problem error={chunks.error} />
        {chunks.isLoaded && chunks.total === 0 ? (
          isFiltered ? (
            <Empty title={t('No skill matches')}>
              <p>{t('Use other words, or clear the filters.')}</p>
            </Empty>
          ) : (
            <Empty title={t('No skills found')} command="skillwright new my-skill">
              <p>{t('Install skills from a folder, a repository or an address, or create one:')}</p>
            </Empty>
          )
        ) : (
          <VirtualList
            class="skill-list"
            count={chunks.total}
            rowHeight={ROW_HEIGHT}
            label={t('Skills')}
            onRange={chunks.want}
            row={(index) => <SkillLine row={chunks.item(index)} isCurrent={chunks.item(index)?.id === id} />}
          />
        )}
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

interface FacetSelectProps {
  readonly label: string;
  readonly value: string;
  readonly facets: readonly { readonly name: string; readonly count: number }[] | undefined;
  readonly choose: (value: string) => void;
}

function FacetSelect({ label, value, facets = [], choose }: FacetSelectProps): JSX.Element {
  return (
    <select value={value} aria-label={label} onChange={({ currentTarget }) => choose(currentTarget.value)}>
      <option value="">{label}</option>
      {facets.map(({ name, count }) => (
        <option key={name} value={name}>
          {`${line(t(name))} (${number(count)})`}
        </option>
      ))}
    </select>
  );
}

interface SkillLineProps {
  readonly row: SkillList['skills'][number] | undefined;
  readonly isCurrent: boolean;
}

function SkillLine({ row, isCurrent }: SkillLineProps): JSX.Element {
  if (row === undefined) return <div class="skill-line placeholder" aria-hidden="true" />;
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

function LeftOut({ list }: { readonly list: ScanView | undefined }): JSX.Element | null {
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
