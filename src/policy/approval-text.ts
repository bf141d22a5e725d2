import {
  countCharacters,
  countText,
  diffLines,
  forPeople,
  frameText,
  type Action,
  type ApprovalRequest,
  type Decision,
  startsProgram,
} from '#core';
import { sha256 } from '#platform';

export interface ApprovalTextOptions {
  readonly width: number;
  /** `whole`: everything, up to very generous limits. `change`: only the diff of a write, nothing for other actions (default: `short`). */
  readonly show?: 'short' | 'whole' | 'change';
}

const SHORT = { textRows: 24, itemRows: 4, items: 20, diffLines: 40 } as const;
const WHOLE = { textRows: 4_000, itemRows: 400, items: 1_000, diffLines: 4_000 } as const;

/**
 * The question as shown to a person, without the choices. Labels are ours; all untrusted text, including names of tools, rules and skills,
 * is framed (`framed-text.ts`).
 */
export function approvalLines(request: ApprovalRequest, options: ApprovalTextOptions): readonly string[] {
  const { tool, risk, rule, origin, skill, project, detail, affects, isolation, capabilities, id, action } = request;
  const show = openShow(options);
  if (options.show === 'change')
    return detail.kind === 'write' && detail.before !== detail.after ? writeLines(detail, show) : [];
  return [
    `approval needed; risk: ${risk}`,
    ...show.items('tool', [tool]),
    ...show.items(`required by a rule (${origin.layer})`, origin.where === '' ? [rule] : [rule, origin.where]),
    ...(skill === undefined ? [] : show.items(`skill ${shortDigest(skill.digest)}`, [skill.id])),
    ...(project === undefined || project === '' ? [] : show.items('project', [project])),
    ...detailLines(detail, show),
    ...givenLines(action, show),
    ...(affects.length === 0 ? [] : show.items(`affects ${String(affects.length)}`, affects)),
    ...(capabilities ?? []).flatMap((each) => (each.on.length === 0 ? [] : show.items(capabilityLabel(each), each.on))),
    ...(isolation === undefined ? [] : isolationLines(isolation, capabilities)),
    ...unusualLine(detail),
    `id: ${shortId(id)}`,
  ].map(forPeople);
}

/** The first 12 digits of an id: enough to recognize a question, not enough to approve it. */
function shortId(id: string): string {
  return /^sha256:([0-9a-f]{12})[0-9a-f]{52}$/.exec(id)?.[1] ?? 'none';
}

function shortDigest(digest: string): string {
  const [, short] = /^(?:sha256(?:-tree)?:)?([0-9a-f]{12})[0-9a-f]{52}$/.exec(digest) ?? [];
  return short === undefined ? 'without a digest' : `with the digest ${short}`;
}

/** Two lines where one would not fit on a terminal of 80 columns. */
function isolationLines(
  isolation: NonNullable<ApprovalRequest['isolation']>,
  capabilities: readonly NonNullable<Decision['capabilities']>[number][] | undefined,
): readonly string[] {
  if (isolation === 'none') return ['isolation: none; it can do everything that you can do'];
  const weak = capabilities?.find(({ name }) => name === 'weak_isolation');
  if (weak !== undefined) return [`isolation: ${isolation}`, capabilityLabel(weak)];
  return [`isolation: ${isolation}`, ...(capabilities?.length === 0 ? [CONTAINED] : [])];
}

interface Show {
  text(label: string, text: string): readonly string[];
  /** Names, arguments and similar: one line each. */
  items(label: string, items: readonly string[]): readonly string[];
  diff(label: string, diff: ReturnType<typeof diffLines>, after: string): readonly string[];
}

function openShow({ width, show }: ApprovalTextOptions): Show {
  const most = show === 'whole' ? WHOLE : SHORT;
  const framed = (text: string, maxRows: number, isOneLine: boolean): readonly string[] => {
    const { start, end, leftOut } = frameText(text, { width, maxRows, isOneLine });
    if (leftOut === 0) return [...start, ...end];
    return [
      ...start,
      ...leftOutLines(`${count(leftOut)} of ${count(countCharacters(text))} characters`, sha256(text)),
      ...end,
    ];
  };
  const ofMany = <T>(all: readonly T[], limit: number): readonly [start: readonly T[], end: readonly T[]] =>
    all.length <= limit ? [all, []] : [all.slice(0, limit - (limit >> 2)), all.slice(-(limit >> 2))];
  return {
    text: (label, text) => [`${label}:`, ...framed(text, most.textRows, false)],
    items(label, items) {
      const [start, end] = ofMany(items, most.items);
      const left = items.length - start.length - end.length;
      const rows = (some: readonly string[]): readonly string[] =>
        some.flatMap((item) => framed(item, most.itemRows, true));
      const leftOut =
        left === 0 ? [] : leftOutLines(`${count(left)} of ${count(items.length)}`, sha256(JSON.stringify(items)));
      return [`${label}:`, ...rows(start), ...leftOut, ...rows(end)];
    },
    diff(label, { hunks, isEndChanged }, after) {
      const all = hunks.flatMap(({ line, lines }) =>
        lines.map((entry, place) => ({ entry, line, isFirst: place === 0 })),
      );
      const [start, end] = ofMany(all, most.diffLines);
      const left = all.length - start.length - end.length;
      const rows = (some: typeof all): readonly string[] =>
        some.flatMap(({ entry, line, isFirst }) => [
          ...(isFirst && (line > 1 || hunks.length > 1) ? [`  from line ${count(line)}`] : []),
          ...framed(MARKS[entry.kind] + entry.text, most.itemRows, true),
        ]);
      const leftOut = left === 0 ? [] : leftOutLines(`${count(left)} of ${count(all.length)} lines`, sha256(after));
      return [
        `${label}:`,
        ...rows([...start]),
        ...leftOut,
        ...rows([...end]),
        ...(isEndChanged
          ? [`  the line end at the end of the file ${after.endsWith('\n') ? 'is added' : 'is removed'}`]
          : []),
      ];
    },
  };
}

const MARKS: Readonly<Record<ReturnType<typeof diffLines>['hunks'][number]['lines'][number]['kind'], string>> = {
  same: '  ',
  removed: '- ',
  added: '+ ',
};

function leftOutLines(what: string, digest: string): readonly string[] {
  return [`  … ${what} omitted; digest of everything:`, `  sha256 ${digest}`];
}

function detailLines(detail: ApprovalRequest['detail'], show: Show): readonly string[] {
  switch (detail.kind) {
    case 'command':
      return [
        ...show.text(`command, ${count(countCharacters(detail.command))} characters`, detail.command),
        ...(detail.programs.length === 0 ? [] : show.items('programs', detail.programs)),
      ];
    case 'script':
      return [...show.items('script', [detail.script]), ...someItems('arguments', detail.args.map(quotedItem), show)];
    case 'write':
      return [...show.items('file', [detail.path]), ...writeLines(detail, show)];
    case 'packages':
      return [
        ...show.items(`requested packages (${count(detail.requested.length)})`, detail.requested),
        ...show.items(`to be installed from ${detail.index} (${count(detail.packages.length)})`, detail.packages),
        `lock: ${detail.lock}`,
      ];
    case 'delete':
      return show.items(`file to delete, ${count(detail.bytes)} bytes`, [detail.path]);
    case 'request':
      return [
        ...show.items('request', [`${detail.method} ${detail.url}`]),
        ...(detail.body === ''
          ? []
          : show.text(`body, ${count(countCharacters(detail.body))} characters`, detail.body)),
      ];
    case 'other':
      return show.text('what', detail.summary);
  }
}

function writeLines(
  { before, after }: Extract<ApprovalRequest['detail'], { kind: 'write' }>,
  show: Show,
): readonly string[] {
  if (before === after) return ['the content does not change'];
  const diff = diffLines(before ?? '', after);
  if (before === undefined) return show.diff(`a new file, ${lineCount(diff.added)}`, diff, after);
  return show.diff(`changes, ${lineCount(diff.added)} added, ${count(diff.removed)} removed`, diff, after);
}

function lineCount(lines: number): string {
  return countText(lines, 'line', 'lines', count);
}

/** What a program or request gets besides its command line, which can matter as much. */
function givenLines(action: Action, show: Show): readonly string[] {
  if (action.type === 'network_request')
    return someItems(
      'headers',
      Object.entries(action.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
      show,
    );
  if (!startsProgram(action)) return [];
  const { env = {}, stdin, inputs = [] } = action;
  const { cwd, editorText } = { cwd: undefined, editorText: undefined, ...action };
  return [
    ...(cwd === undefined ? [] : show.items('starts in', [cwd])),
    ...someItems(
      'environment',
      Object.entries(env).map(([name, value]) => `${name}=${value}`),
      show,
    ),
    ...(stdin === undefined || stdin === '' ? [] : show.text('stdin', stdin)),
    ...(editorText === undefined ? [] : show.text('text for the editor', editorText)),
    ...someItems(
      'input files',
      inputs.map(({ from, to }) => (to === undefined ? from : `${from} as ${to}`)),
      show,
    ),
  ];
}

function someItems(label: string, items: readonly string[], show: Show): readonly string[] {
  return items.length === 0 ? [] : show.items(`${label} (${count(items.length)})`, items);
}

/** Quoted, so that empty arguments and trailing spaces are visible. */
function quotedItem(argument: string): string {
  return JSON.stringify(argument);
}

/** Letters of other scripts can imitate ASCII letters. */
function unusualLine(detail: ApprovalRequest['detail']): readonly string[] {
  // Existing content is not part of the question.
  const text = Object.values({ ...detail, before: '' })
    .flat()
    .join('');
  const unusual = countCharacters(text.replaceAll(/[\0-\x7f]/g, ''));
  return unusual === 0 ? [] : [`${count(unusual)} characters are not ASCII; some may imitate others`];
}

function count(number: number): string {
  return number.toLocaleString('en');
}

type Capability = NonNullable<Decision['capabilities']>[number];

/** Said of a program without any capability. */
const CONTAINED = 'contained: isolated, no network, no secrets, no write access to your files';

const LABELS: Readonly<Record<Capability['name'], string>> = {
  project_write: 'may change, create and delete files in',
  network: 'may reach',
  secrets: 'gets the secrets',
  weak_isolation:
    'weaker isolation (landlock): it sees your processes and the dates of your files, and can change their permissions',
  no_isolation: 'no isolation: it can do everything that you can do',
};

/** What a capability means, without the folders, hosts or names. */
function capabilityLabel({ name }: Capability): string {
  return LABELS[name];
}

/** Everything that a program reaches, in one line. The names are not escaped. */
export function capabilityLine(capabilities: readonly Capability[]): string {
  if (capabilities.length === 0) return CONTAINED;
  const parts = capabilities.map((each) =>
    [capabilityLabel(each), each.on.join(', ')].filter((part) => part !== '').join(' '),
  );
  return `not contained: ${parts.join('; ')}`;
}
