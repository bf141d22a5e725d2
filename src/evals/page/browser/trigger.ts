/** The trigger evaluation: controls, scores, confusion matrix and distractor sweep. */
import { numberText, percentText, rateText } from '../../report/report-text.ts';
import type { Rate, TriggerReport } from '../../report/result.ts';
import { h, line, list, styled, svg } from './dom.ts';
import { rateCell, section, table, tableBox } from './marks.ts';

const MOST_LABELS = 40;

export function triggerView(trigger: TriggerReport): HTMLElement {
  return h(
    'div.view',
    trigger.isValid
      ? undefined
      : h(
          'div',
          { class: 'banner bad', role: 'alert' },
          h('strong', 'Invalid: a control failed, so there is no score'),
        ),
    controls(trigger),
    ...(trigger.isValid ? [scores(trigger), matrix(trigger), sweep(trigger)] : []),
  );
}

function controls({ controls: all }: TriggerReport): HTMLElement {
  const rows = all.map(({ name, asked, found, isKept }) =>
    h(
      'tr',
      h('td', { class: isKept ? 'good' : 'bad' }, isKept ? 'passed' : 'failed'),
      h('th', { scope: 'row' }, name),
      h('td', line(asked)),
      h('td', line(found)),
    ),
  );
  return section(
    'Controls',
    h(
      'p.faint',
      'Controls test the evaluation itself: one made-up skill must load for each of its own requests, another must never load, and shuffled labels must score like chance. If one fails there is no score.',
    ),
    table('Controls', ['outcome', 'Control', 'Expected', 'Found'], rows),
  );
}

function scores({ scores: all, overall, split }: TriggerReport): HTMLElement {
  const rows = [...all, { skill: 'all', ...overall }].map(({ skill, precision, recall, f1 }) =>
    h(
      'tr',
      h('th', { scope: 'row' }, line(skill)),
      h('td', rateCell(precision)),
      h('td', rateCell(recall)),
      h('td.number', f1.toFixed(2)),
    ),
  );
  return section(
    'Scores',
    table('Scores by skill', ['Skill', 'Precision', 'Recall', 'F1'], rows),
    h(
      'p',
      `No skill loaded where none was expected: ${rateText(overall.quiet)}.`,
      split === undefined ? '' : ` Train ${rateText(split.train)}, validation ${rateText(split.validation)}.`,
    ),
  );
}

function matrix({ confusion }: TriggerReport): HTMLElement {
  const weight = new Map<string, number>();
  for (const { wanted, took, count } of confusion)
    for (const label of [wanted, took])
      weight.set(label, (weight.get(label) ?? 0) + count * (wanted === took ? 1 : 1000));
  // Keeps the most confused labels, sorted by name, with the label for no skill at the end.
  const chosen = [...weight]
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, MOST_LABELS)
    .map(([label]) => label);
  const labels = chosen.toSorted((a, b) => Number(a === '-') - Number(b === '-') || (a < b ? -1 : 1));
  const counts = new Map(confusion.map(({ wanted, took, count }) => [JSON.stringify([wanted, took]), count]));
  const sums = new Map(
    labels.map((wanted) => [
      wanted,
      confusion.filter((one) => one.wanted === wanted).reduce((total, { count }) => total + count, 0),
    ]),
  );
  const cell = (wanted: string, took: string): HTMLElement => {
    const count = counts.get(JSON.stringify([wanted, took])) ?? 0;
    if (count === 0) return h('td.none');
    const share = count / Math.max(1, sums.get(wanted) ?? 1);
    const title = `${nameOf(took)} was loaded for ${numberText(count)} of the queries for ${nameOf(wanted)}`;
    return styled(h('td', { class: wanted === took ? 'right' : 'wrong', title }, numberText(count)), {
      '--share': `${String(Math.round(12 + share * 34))}%`,
    });
  };
  return section(
    'Confusion matrix',
    h(
      'p.faint',
      `Rows: expected skill. Columns: loaded skill.${weight.size > labels.length ? ` Shows the ${String(labels.length)} most confused of ${numberText(weight.size)} labels.` : ''}`,
    ),
    tableBox(
      'Confusion matrix',
      h(
        'table.matrix',
        h(
          'thead',
          h(
            'tr',
            h('td'),
            list(labels, (label) => h('th', { scope: 'col' }, h('span', nameOf(label)))),
          ),
        ),
        h(
          'tbody',
          list(labels, (wanted) =>
            h(
              'tr',
              h('th', { scope: 'row' }, nameOf(wanted)),
              list(labels, (took) => cell(wanted, took)),
            ),
          ),
        ),
      ),
    ),
  );
}

function nameOf(label: string): string {
  return label === '-' ? 'none' : line(label);
}

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [560, 220, 44, 28, 10] as const;

/** Plots recall and precision over the number of other skills on a logarithmic axis. */
function sweep({ sweep: points }: TriggerReport): HTMLElement | undefined {
  if (points.length < 2) return undefined;
  const places = points.map(({ distractors }) => Math.log10(Math.max(1, distractors)));
  const [first, last] = [Math.min(...places), Math.max(...places)];
  const x = (at: number): number =>
    LEFT + (((places[at] ?? 0) - first) / Math.max(0.001, last - first)) * (WIDTH - LEFT - 24);
  const y = (value: number): number => TOP + (1 - value) * (HEIGHT - TOP - BOTTOM);
  const curve = (name: 'recall' | 'precision'): readonly SVGElement[] => {
    const rates = points.map((point) => point[name]);
    const upper = rates.map(({ high }, at) => `${String(x(at))},${String(y(high))}`);
    const lower = rates.map(({ low }, at) => `${String(x(at))},${String(y(low))}`).toReversed();
    const middle = rates.map((rate, at) => `${String(x(at))},${String(y(valueOf(rate)))}`);
    return [
      svg('polygon', { class: `area ${name}`, points: [...upper, ...lower].join(' ') }),
      svg('polyline', { class: `line ${name}`, points: middle.join(' ') }),
      ...rates.map((rate, at) =>
        svg(
          'circle',
          { class: name, cx: x(at), cy: y(valueOf(rate)), r: 3.5 },
          svg('title', {}, `${name} ${rateText(rate)}`),
        ),
      ),
    ];
  };
  const label = points
    .map(
      ({ distractors, recall, precision }) =>
        `${numberText(distractors)} others: recall ${rateText(recall)}, precision ${rateText(precision)}`,
    )
    .join('; ');
  return section(
    'More installed skills',
    h(
      'div.panel',
      h(
        'p.legend',
        h('span', h('span', { class: 'swatch recall' }), 'recall'),
        h('span', h('span', { class: 'swatch precision' }), 'precision'),
      ),
      svg(
        'svg',
        { class: 'sweep', viewBox: `0 0 ${String(WIDTH)} ${String(HEIGHT)}`, role: 'img', 'aria-label': label },
        ...[0, 0.25, 0.5, 0.75, 1].flatMap((value) => [
          svg('line', { class: 'guide', x1: LEFT, x2: WIDTH - 24, y1: y(value), y2: y(value) }),
          svg('text', { x: LEFT - 8, y: y(value) + 4, 'text-anchor': 'end' }, percentText(value)),
        ]),
        ...points.map(({ distractors }, at) =>
          svg('text', { x: x(at), y: HEIGHT - 8, 'text-anchor': 'middle' }, numberText(distractors)),
        ),
        ...curve('precision'),
        ...curve('recall'),
      ),
    ),
  );
}

function valueOf({ count, of }: Rate): number {
  return of === 0 ? 0 : count / of;
}
