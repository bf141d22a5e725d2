/** The frame of the page: navigation, connection, theme and language. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import type { ServerStatus } from '#server/api';
import { NewsContext, useServerNews } from './changes.ts';
import { useGet } from './hooks.ts';
import { t } from './language.ts';
import { useNotices } from './notice.ts';
import { ApprovalsPage } from './pages/approvals.tsx';
import { AskPage } from './pages/ask.tsx';
import { CatalogPage } from './pages/catalog.tsx';
import { ComparePage } from './pages/compare.tsx';
import { EvaluationsPage } from './pages/evaluations.tsx';
import { InstallPage } from './pages/install.tsx';
import { PolicyPage } from './pages/policy.tsx';
import { RunPage } from './pages/run.tsx';
import { RunsPage } from './pages/runs.tsx';
import { SkillsPage } from './pages/skills.tsx';
import { useSettings } from './parts/settings.tsx';
import { RightsContext, type Right } from './rights.ts';
import { link, useRoute, type PageRoute } from './route.ts';
import { line } from './text.ts';

const PAGES = [
  ['skills', 'Skills', 'M4 5h12M4 10h12M4 15h8'],
  ['catalog', 'Catalog and cost', 'M4 16V9M9 16V4M14 16v-5'],
  ['ask', 'Ask', 'M4 5h12v8H9l-4 3v-3H4z'],
  ['approvals', 'Approvals', 'M4 10l4 4 8-9'],
  ['runs', 'Runs', 'M6 4l9 6-9 6z'],
  ['evaluations', 'Evaluations', 'M4 15l4-5 3 3 5-8'],
  ['policy', 'Policy', 'M10 3l6 2v5c0 4-3 6-6 7-3-1-6-3-6-7V5z'],
] as const;

/** Pages about files of one machine, which a fleet does not have. */
const LOCAL: ReadonlySet<string> = new Set(['evaluations', 'install']);
/** Pages that a key needs a right for, and what is said without it. */
const NEEDED: Readonly<Record<string, readonly [right: Right, otherwise: string]>> = {
  ask: ['submit', 'Your key may not start runs: it lacks the right submit.'],
  approvals: ['approve', 'Your key may not answer questions: it lacks the right approve.'],
};

/** Why a page is not shown. Until the server has answered, every page is. */
function reasonAgainst(page: string, status: ServerStatus | undefined): string | undefined {
  if (status === undefined) return undefined;
  const [right, otherwise] = NEEDED[page] ?? [];
  if (right !== undefined && !status.rights.includes(right)) return otherwise;
  return status.isFleet === true && LOCAL.has(page)
    ? 'This page shows files of one machine: run skillwright ui where the skills are installed and the evaluations were run.'
    : undefined;
}

export function App(): JSX.Element {
  const [language, settings] = useSettings();
  const news = useServerNews();
  const route = useRoute();
  const waiting = useNotices(news.changes);
  const status = useGet('/status', {}, `${String(news.connection)} ${news.changes?.mode ?? ''}`);
  const main = useRef<HTMLElement>(null);
  const [page = 'skills'] = route.segments;
  const known = PAGES.find(([id]) => id === page) ?? PAGES[0];
  // A link to a step moves within the page.
  const place = route.segments.join('/').replace(/\/step\/\d+$/, '');
  useEffect(() => {
    const count = waiting === 0 ? '' : `(${String(waiting)}) `;
    document.title = `${count}${t(known[1])} · Skillwright`;
  }, [known, language, waiting]);
  useEffect(() => {
    scrollTo(0, 0);
    // On narrow screens the navigation is one line that scrolls.
    document.querySelector('.pages [aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' });
  }, [place]);
  return (
    <NewsContext.Provider value={news}>
      <a
        class="skip"
        href="#content"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        {t('Skip to the content')}
      </a>
      <header class="top">
        <a class="brand" href={link('skills')}>
          <img src="/icon.svg" alt="" width="24" height="24" />
          <span>Skillwright</span>
        </a>
        <span class="project faint" title={status.data?.project}>
          {line(status.data?.project ?? '')}
        </span>
        {settings}
      </header>
      <div class="frame">
        <nav class="pages" aria-label={t('Pages')}>
          <ul>
            {PAGES.filter(([id]) => reasonAgainst(id, status.data) === undefined).map(([id, label, icon]) => (
              <li key={id}>
                <a href={link(id)} aria-current={id === known[0] ? 'page' : undefined}>
                  <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true">
                    <path d={icon} />
                  </svg>
                  <span>{t(label)}</span>
                  {id === 'approvals' && waiting > 0 ? (
                    <span class="bubble">
                      {waiting}
                      <span class="hidden-label"> {t('waiting')}</span>
                    </span>
                  ) : null}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <main id="content" ref={main} tabIndex={-1} key={language}>
          {news.isConnected ? null : (
            <div class="banner warning" role="status">
              {t('The server does not answer. The page reconnects by itself; if you ended it, run: skillwright ui')}
            </div>
          )}
          <RightsContext.Provider value={status.data?.rights ?? []}>
            <Page route={route} status={status.data} />
          </RightsContext.Provider>
        </main>
      </div>
    </NewsContext.Provider>
  );
}

function readNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

interface PageProps {
  readonly route: PageRoute;
  readonly status: ServerStatus | undefined;
}

function Page({ route, status }: PageProps): JSX.Element {
  const [page = 'skills', first, second] = route.segments;
  const reason = reasonAgainst(page, status);
  if (reason !== undefined)
    return (
      <div class="page">
        <p>{t(reason)}</p>
        {page in NEEDED ? (
          <p>
            <a href="/login">{t('Log in with another key')}</a>
          </p>
        ) : null}
      </div>
    );
  switch (page) {
    case 'catalog':
      return <CatalogPage />;
    case 'ask':
      return <AskPage status={status} run={first} query={route.query} />;
    case 'approvals':
      return <ApprovalsPage status={status} />;
    case 'runs':
      if (first === 'compare') return <ComparePage left={second ?? ''} right={route.segments[3] ?? ''} />;
      return first === undefined ? (
        <RunsPage query={route.query} status={status} />
      ) : (
        <RunPage key={first} id={first} status={status} target={readNumber(route.segments[3])} />
      );
    case 'evaluations':
      return <EvaluationsPage segments={route.segments.slice(1)} against={route.query.get('against') ?? undefined} />;
    case 'policy':
      return <PolicyPage />;
    case 'install':
      return <InstallPage query={route.query} />;
    default:
      return <SkillsPage id={page === 'skills' ? first : undefined} canInstall={status?.canInstall !== false} />;
  }
}
