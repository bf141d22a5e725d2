/** One result: request, answer, checks with their evidence, cost and run. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { t } from '../language.ts';
import { Diff } from '../parts/diff.tsx';
import { LongText } from '../parts/long-text.tsx';
import { Banner, Command, Empty, Facts, PlanSteps, Section, State } from '../parts/parts.tsx';
import { duration, line, number, visible } from '../text.ts';
import { RowsTable, Titled, armName, part, useReportLink } from './marks.tsx';
import type { CaseResult, CheckResult, ContextSection, PageData, RunStep, RunView, TurnView } from './data.ts';

interface CaseProps {
  readonly data: PageData;
  readonly place: number;
  readonly neighbours: Readonly<Record<'before' | 'after', number | undefined>>;
  /** How the case did in other evaluations; only the console knows. */
  readonly history: ComponentChildren;
}

const MOST_ATTEMPTS = 60;
const MOST_EVENTS = 20;

export function CaseView({ data, place, neighbours: { before, after }, history }: CaseProps): JSX.Element {
  const link = useReportLink();
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus({ preventScroll: true }), [place]);
  const result = data.report.results[place];
  if (result === undefined)
    return (
      <Empty title={t('No such case')}>
        <a href={link('cases')}>{t('All cases')}</a>
      </Empty>
    );
  const view = data.views[String(place)];
  return (
    <article class="case-view" aria-labelledby="case-title">
      <nav class="crumbs" aria-label={t('Cases')}>
        <a class="back" href={link('cases')}>
          {t('All cases')}
        </a>
        <Step place={before} label={t('Previous')} />
        <Step place={after} label={t('Next')} />
      </nav>
      <h2 id="case-title" tabIndex={-1} ref={title}>
        <State name={result.status} /> {line(result.case)}
      </h2>
      {result.name === result.case ? null : <p class="lead">{line(result.name)}</p>}
      <About result={result} />
      <Attempts data={data} place={place} />
      {result.reason === '' ? null : (
        <Banner tone={result.status === 'error' ? 'warning' : 'plain'}>{visible(result.reason)}</Banner>
      )}
      <Checks checks={result.checks} hasView={view !== undefined} />
      <div class="columns">
        <Text title={t('Request')} text={result.input} />
        <Text title={t('Answer')} text={result.answer} />
      </div>
      {data.isCut ? <p class="faint">{t('Long texts are shortened here; the JSON report has them all.')}</p> : null}
      <Cost result={result} />
      {history}
      {view === undefined ? <MissingView result={result} /> : <Timeline view={view} />}
      <RunComparison data={data} place={place} />
    </article>
  );
}

function Step({ place, label }: { readonly place: number | undefined; readonly label: string }): JSX.Element {
  const link = useReportLink();
  return place === undefined ? <span class="faint">{label}</span> : <a href={link('case', String(place))}>{label}</a>;
}

function About({ result }: { readonly result: CaseResult }): JSX.Element {
  const { place, arm, attempt, model, tags, loaded, isHarnessCheck, quarantine, isCached } = result;
  return (
    <Facts
      facts={[
        [t('Arm'), armName(arm)],
        [t('Attempt'), String(attempt)],
        [t('Model'), line(`${model.id} (${model.way})`)],
        [t('Loaded skills'), loaded.length === 0 ? t('none') : line(loaded.join(', '))],
        [t('File'), line(`${place.file}:${String(place.line)}`)],
        ...(tags.length === 0 ? [] : [[t('Tags'), line(tags.join(', '))] as const]),
        ...(isHarnessCheck === true
          ? [[t('Harness check'), t('generated answers; it counts in no pass rate')] as const]
          : []),
        ...(quarantine === undefined
          ? []
          : [[t('Quarantine'), t('in quarantine until {day}', { day: line(quarantine.until) })] as const]),
        ...(isCached ? [[t('Cache'), t('from the cache')] as const] : []),
      ]}
    />
  );
}

type PlaceProps = Pick<CaseProps, 'data' | 'place'>;

function Attempts({ data: { report }, place }: PlaceProps): JSX.Element | null {
  const link = useReportLink();
  const own = report.results[place];
  const others = [...report.results.entries()].filter(([, other]) => other.case === own?.case);
  if (others.length < 2) return null;
  return (
    <p class="chips">
      <span class="faint">{t('All attempts')}</span>
      {others.slice(0, MOST_ATTEMPTS).map(([at, other]) => (
        <a key={at} class="chip" href={link('case', String(at))} aria-current={at === place ? 'true' : undefined}>
          <State name={other.status} /> {armName(other.arm)} {other.attempt}
        </a>
      ))}
    </p>
  );
}

function Checks({
  checks,
  hasView,
}: {
  readonly checks: readonly CheckResult[];
  readonly hasView: boolean;
}): JSX.Element | null {
  if (checks.length === 0) return null;
  const rank = ({ status }: CheckResult): number => (status === 'passed' ? 1 : 0);
  const rows = checks
    .toSorted((a, b) => rank(a) - rank(b))
    .map(({ id, kind, status, asked, found, events }) => {
      const name = (
        <>
          <code>{line(id)}</code>
          <div class="faint">{t(kind)}</div>
        </>
      );
      const shown = events.slice(0, MOST_EVENTS).map((seq) => <Evidence key={seq} seq={seq} hasView={hasView} />);
      return { class: status, cells: [<State name={status} />, name, visible(asked), visible(found), shown] };
    });
  const heads = ['Outcome', 'Check', 'Expected', 'Found', 'Evidence (event)'];
  return (
    <Titled title={t('Checks')}>
      <RowsTable
        label={t('Checks')}
        heads={heads}
        class="checks"
        header={-1}
        columns={['', '', 'text', 'text']}
        rows={rows}
      />
    </Titled>
  );
}

function Evidence({ seq, hasView }: { readonly seq: number; readonly hasView: boolean }): JSX.Element {
  if (!hasView) return <span class="evidence">{seq}</span>;
  return (
    <button type="button" class="link evidence" onClick={() => showEvent(seq)}>
      {seq}
    </button>
  );
}

/** Moves to the step of an event, or to the last step before it. */
function showEvent(seq: number): void {
  const steps = [...document.querySelectorAll<HTMLElement>('[data-events]')].map((element) => ({
    element,
    events: (element.dataset['events'] ?? '').split(' ').map(Number),
  }));
  const shown =
    steps.find(({ events }) => events.includes(seq)) ?? steps.findLast(({ events }) => (events[0] ?? 0) <= seq);
  shown?.element.scrollIntoView({ block: 'center' });
  shown?.element.focus({ preventScroll: true });
}

function Text({ title, text }: { readonly title: string; readonly text: string }): JSX.Element {
  return (
    <Titled title={title}>
      {text === '' ? <p class="faint">{t('empty')}</p> : <LongText text={text} label={title} />}
    </Titled>
  );
}

function Cost({ result: { cost } }: { readonly result: CaseResult }): JSX.Element {
  const about = cost.tokensAreEstimated ? '≈ ' : '';
  return (
    <Section title={t('Cost')}>
      <Facts
        facts={[
          [t('Tokens in'), `${about}${number(cost.inputTokens)}`],
          [t('Tokens out'), `${about}${number(cost.outputTokens)}`],
          [t('Turns'), number(cost.turns)],
          [t('Tool calls'), number(cost.toolCalls)],
          [t('Script runs'), number(cost.scriptRuns)],
          [t('Time'), duration(cost.wallMs)],
        ]}
      />
    </Section>
  );
}

function MissingView({ result: { run } }: { readonly result: CaseResult }): JSX.Element {
  return (
    <Section title={t('Run')}>
      <p class="faint">{run === undefined ? t('The case did not run.') : t('The run is not part of this report.')}</p>
      {run === undefined ? null : <Command text={`skillwright runs show ${run}`} />}
    </Section>
  );
}

function RunComparison({ data: { report, views }, place }: PlaceProps): JSX.Element | null {
  const [chosen, choose] = useState('');
  const [own, view] = [report.results[place], views[String(place)]];
  const others = [...report.results.entries()].flatMap(([at, other]) => {
    const seen = views[String(at)];
    return at === place || other.case !== own?.case || seen === undefined ? [] : [{ at, other, seen }];
  });
  const shown = others.find(({ at }) => String(at) === chosen) ?? others[0];
  if (view === undefined || shown === undefined) return null;
  const facts = [view, shown.seen].map(
    ({ turns, elapsedMs }) => `${number(turns.at(-1)?.tokens ?? 0)} ${t('Tokens')}, ${duration(elapsedMs)}`,
  );
  return (
    <Section title={t('Compared with another run of this case')}>
      <select
        aria-label={t('Other run')}
        value={String(shown.at)}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        {others.map(({ at, other }) => (
          <option key={at} value={at}>
            {`${armName(other.arm)} ${String(other.attempt)}: ${t(other.status)}`}
          </option>
        ))}
      </select>
      <p class="faint">{facts.join(' / ')}</p>
      <Diff before={stepsText(shown.seen)} after={stepsText(view)} label={t('Steps of both runs')} />
    </Section>
  );
}

/** Without times, which always differ. */
function stepsText({ steps }: RunView): string {
  return steps
    .map(({ turn, kind, text, tone }) => `${String(turn)}  ${kind}  ${text}${tone === 'bad' ? '  ✕' : ''}\n`)
    .join('');
}

const NAMES: Readonly<Record<ContextSection, string>> = {
  rest: 'instructions, tools, request',
  catalog: 'catalog',
  bodies: 'skill bodies',
  resources: 'resources',
  observations: 'observations and answers',
};
/** In the order of a request. */
const SECTIONS: readonly ContextSection[] = ['rest', 'catalog', 'bodies', 'resources', 'observations'];

/** The timeline of a run: requests with their context sections, actions with decisions and outcomes. */
function Timeline({ view }: { readonly view: RunView }): JSX.Element {
  const { turns, steps } = view;
  const most = Math.max(1, ...turns.map(({ tokens }) => tokens));
  const numbers = [...new Set([...turns, ...steps].map(({ turn }) => turn))].toSorted((a, b) => a - b);
  const used = SECTIONS.filter((name) => turns.some(({ sections }) => sections[name] > 0));
  return (
    <Section title={t('Run')}>
      <p>
        <code>{line(view.run)}</code> {line(view.outcome)}
        {view.reason === '' ? '' : `: ${line(view.reason)}`} <span class="faint">{duration(view.elapsedMs)}</span>{' '}
        {view.isTorn ? <span class="bad">{t('the record is incomplete')}</span> : null}
      </p>
      <ul class="legend">
        {used.map((name) => (
          <li key={name}>
            <span class={`swatch ${name}`} aria-hidden="true" />
            {t(NAMES[name])}
          </li>
        ))}
      </ul>
      {numbers.map((turn) => (
        <div class="turn" key={turn}>
          <h3>{turn === 0 ? t('Before the first turn') : t('Turn {number}', { number: turn })}</h3>
          {turns
            .filter((one) => one.turn === turn)
            .map((one, at) => (
              <ContextBar key={at} turn={one} most={most} />
            ))}
          <ol class="turn-steps">
            {steps
              .filter((one) => one.turn === turn)
              .map((step) => (
                <TimelineStep key={step.events[0]} step={step} />
              ))}
          </ol>
        </div>
      ))}
      {view.stepsLeftOut === 0 ? null : (
        <p class="faint">
          {t('{count} steps from the middle are only in the record', { count: number(view.stepsLeftOut) })}
        </p>
      )}
    </Section>
  );
}

function ContextBar({ turn, most }: { readonly turn: TurnView; readonly most: number }): JSX.Element {
  const { tokens, sections, inputTokens, outputTokens } = turn;
  const parts = SECTIONS.filter((name) => sections[name] > 0);
  const text = (name: ContextSection): string => `${t(NAMES[name])} ${number(sections[name])}`;
  return (
    <div class="context">
      <span class="context-bar" role="img" aria-label={parts.map(text).join(', ')}>
        <span class="fill" style={{ width: part(tokens / most) }}>
          {parts.map((name) => (
            <span key={name} class={name} title={text(name)} style={{ flexGrow: String(sections[name]) }} />
          ))}
        </span>
      </span>
      <span class="faint">
        {t('{count} tokens', { count: number(tokens) })}
        {inputTokens === undefined ? '' : ` · ${t('in')} ${number(inputTokens)}`}
        {outputTokens === undefined ? '' : ` · ${t('out')} ${number(outputTokens)}`}
      </span>
    </div>
  );
}

function TimelineStep({ step }: { readonly step: RunStep }): JSX.Element {
  const { events, atMs, kind, tone, text, lines, tookMs, plan } = step;
  return (
    <li class={`turn-step ${kind} ${tone}`} data-events={events.join(' ')} tabIndex={-1}>
      <span class="faint time">{duration(atMs)}</span>
      <span class="faint kind">{t(kind)}</span>
      <div>
        <div class="step-head">
          {line(text)} {tookMs === undefined ? null : <span class="faint">{duration(tookMs)}</span>}
        </div>
        {plan === undefined ? null : <PlanSteps steps={plan.steps} />}
        {lines.map(({ label, tone: own, text: more }, at) => (
          <div key={at} class={`step-line ${own}`}>
            <span class="faint">{label}</span> <span class="text">{visible(more)}</span>
          </div>
        ))}
      </div>
    </li>
  );
}
