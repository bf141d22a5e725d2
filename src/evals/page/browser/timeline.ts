/** The timeline of a run: requests with their context sections, actions with decisions and outcomes. */
import { numberText } from '../../report/report-text.ts';
import { countText, durationText } from '../../../core/text/line-text.ts';
import { CONTEXT_SECTIONS } from '../view.ts';
import type { ContextSection, RunStep, RunView, TurnView } from '../view.ts';
import { h, line, list, styled, visible } from './dom.ts';
import { part, section } from './marks.ts';

const NAMES = {
  rest: 'instructions, tools, request',
  catalog: 'catalog',
  bodies: 'skill bodies',
  resources: 'resources',
  observations: 'observations and answers',
} as const satisfies Record<ContextSection, string>;

export function timeline(view: RunView): HTMLElement {
  const most = Math.max(1, ...view.turns.map(({ tokens }) => tokens));
  const numbers = [...new Set([...view.turns.map(({ turn }) => turn), ...view.steps.map(({ turn }) => turn)])].toSorted(
    (a, b) => a - b,
  );
  return section(
    'Run',
    h(
      'div',
      { class: 'panel timeline' },
      h(
        'p.meta',
        h('code', line(view.run)),
        h('span', `${line(view.outcome)}${view.reason === '' ? '' : `: ${line(view.reason)}`}`),
        h('span.faint', durationText(view.elapsedMs)),
        view.isTorn ? h('span.bad', 'the record is incomplete') : undefined,
      ),
      legend(view),
      list(numbers, (turn) => turnBlock(view, turn, most)),
      view.stepsLeftOut === 0
        ? undefined
        : h('p.faint', `${countText(view.stepsLeftOut, 'step')} from the middle are only in the record`),
    ),
  );
}

function legend({ turns }: RunView): HTMLElement | undefined {
  const used = CONTEXT_SECTIONS.filter((name) => turns.some(({ sections }) => sections[name] > 0));
  if (used.length === 0) return undefined;
  return h(
    'p.legend',
    list(used, (name) => h('span', h('span', { class: `swatch ${name}`, 'aria-hidden': 'true' }), NAMES[name])),
  );
}

function turnBlock({ turns, steps }: RunView, number: number, most: number): HTMLElement {
  const own = steps.filter(({ turn }) => turn === number);
  return h(
    'div.turn',
    h('h3', number === 0 ? 'Before the first turn' : `Turn ${String(number)}`),
    list(
      turns.filter(({ turn }) => turn === number),
      (turn) => contextBar(turn, most),
    ),
    own.length === 0 ? undefined : h('ol.steps', list(own, stepItem)),
  );
}

/** Draws the size of a request relative to the largest one, split into sections. */
function contextBar({ tokens, sections, inputTokens, outputTokens }: TurnView, most: number): HTMLElement {
  const parts = CONTEXT_SECTIONS.filter((name) => sections[name] > 0);
  const label = parts.map((name) => `${NAMES[name]} ${numberText(sections[name])}`).join(', ');
  const said = [
    ...(inputTokens === undefined ? [] : [`${numberText(inputTokens)} in`]),
    ...(outputTokens === undefined ? [] : [`${numberText(outputTokens)} out`]),
  ];
  return h(
    'div.context',
    h(
      'span',
      { class: 'context-bar', role: 'img', 'aria-label': `context: ${label}` },
      styled(
        h(
          'span.fill',
          list(parts, (name) =>
            styled(h('span', { class: name, title: `${NAMES[name]}: ${numberText(sections[name])} tokens` }), {
              'flex-grow': String(sections[name]),
            }),
          ),
        ),
        { width: part(tokens / most) },
      ),
    ),
    h(
      'span',
      { class: 'faint number' },
      `${numberText(tokens)} tokens${said.length === 0 ? '' : ` (model: ${said.join(', ')})`}`,
    ),
  );
}

const MARKS = { pending: '○', in_progress: '◐', completed: '●' } as const;

function stepItem(step: RunStep): HTMLElement {
  const { events, atMs, kind, tone, text, lines, tookMs, plan } = step;
  return h(
    'li',
    { class: `step ${kind} tone-${tone}`, 'data-events': events.join(' '), tabindex: -1 },
    h('span', { class: 'when faint', title: `event ${events.map(String).join(', ')}` }, durationText(atMs)),
    h('span.kind', kind),
    h(
      'div.what',
      h('div', line(text), tookMs === undefined ? undefined : h('span.faint', ` ${durationText(tookMs)}`)),
      plan === undefined
        ? undefined
        : h(
            'ul.plan',
            list(plan.steps, ({ title, status }) =>
              h(
                'li',
                { class: status },
                h('span', { 'aria-label': status.replace('_', ' ') }, MARKS[status]),
                ' ',
                line(title),
              ),
            ),
          ),
      list(lines, ({ label, tone: own, text: more }) =>
        h('div', { class: `more tone-${own}` }, h('span.faint', `${label} `), h('span.text', visible(more))),
      ),
    ),
  );
}
