/** A run from its first turn to its end: each request with what filled it, each action with its decision and outcome. */
import { numberText } from '../../report/report-text.ts';
import { countText, durationText } from '../../../core/text/line-text.ts';
import { CONTEXT_SECTIONS } from '../view.ts';
import type { ContextSection, RunStep, RunView, TurnView } from '../view.ts';
import { h, line, list, styled, visible } from './dom.ts';
import { part, section } from './marks.ts';

const NAMES = {
  rest: 'instructions, tools, request',
  catalog: 'catalog',
  bodies: 'bodies of skills',
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
        'p',
        { class: 'meta' },
        h('code', {}, line(view.run)),
        h('span', {}, `${line(view.outcome)}${view.reason === '' ? '' : `: ${line(view.reason)}`}`),
        h('span', { class: 'faint' }, durationText(view.elapsedMs)),
        view.isTorn ? h('span', { class: 'bad' }, 'the record is torn') : undefined,
      ),
      legend(view),
      list(numbers, (turn) => turnBlock(view, turn, most)),
      view.stepsLeftOut === 0
        ? undefined
        : h('p', { class: 'faint' }, `${countText(view.stepsLeftOut, 'step')} of the middle: only in the record`),
    ),
  );
}

function legend({ turns }: RunView): HTMLElement | undefined {
  const used = CONTEXT_SECTIONS.filter((name) => turns.some(({ sections }) => sections[name] > 0));
  if (used.length === 0) return undefined;
  return h(
    'p',
    { class: 'legend' },
    list(used, (name) => h('span', {}, h('span', { class: `swatch ${name}`, 'aria-hidden': 'true' }), NAMES[name])),
  );
}

function turnBlock({ turns, steps }: RunView, number: number, most: number): HTMLElement {
  const own = steps.filter(({ turn }) => turn === number);
  return h(
    'div',
    { class: 'turn' },
    h('h3', {}, number === 0 ? 'Before the first turn' : `Turn ${String(number)}`),
    list(
      turns.filter(({ turn }) => turn === number),
      (turn) => contextBar(turn, most),
    ),
    own.length === 0 ? undefined : h('ol', { class: 'steps' }, list(own, stepItem)),
  );
}

/** Its length is that of the request against the longest one, its parts are the sections. */
function contextBar({ tokens, sections, inputTokens, outputTokens }: TurnView, most: number): HTMLElement {
  const parts = CONTEXT_SECTIONS.filter((name) => sections[name] > 0);
  const label = parts.map((name) => `${NAMES[name]} ${numberText(sections[name])}`).join(', ');
  const said = [
    ...(inputTokens === undefined ? [] : [`${numberText(inputTokens)} in`]),
    ...(outputTokens === undefined ? [] : [`${numberText(outputTokens)} out`]),
  ];
  return h(
    'div',
    { class: 'context' },
    h(
      'span',
      { class: 'context-bar', role: 'img', 'aria-label': `context: ${label}` },
      styled(
        h(
          'span',
          { class: 'fill' },
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
    h('span', { class: 'kind' }, kind),
    h(
      'div',
      { class: 'what' },
      h(
        'div',
        {},
        line(text),
        tookMs === undefined ? undefined : h('span', { class: 'faint' }, ` ${durationText(tookMs)}`),
      ),
      plan === undefined
        ? undefined
        : h(
            'ul',
            { class: 'plan' },
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
        h(
          'div',
          { class: `more tone-${own}` },
          h('span', { class: 'faint' }, `${label} `),
          h('span', { class: 'text' }, visible(more)),
        ),
      ),
    ),
  );
}
