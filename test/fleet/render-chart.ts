/**
 * Renders the part of Helm's template language that our chart uses, because no registry of Node or Debian has Helm. Everything else is an
 * error, so that a chart which this renders is one that Helm renders.
 */
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';

type Values = Readonly<Record<string, unknown>>;

interface Node {
  readonly action: string;
  readonly children: Node[];
  readonly otherwise: Node[];
}

const ACTION = /\{\{(-?)\s*(.*?)\s*(-?)\}\}/gs;

export function renderChart(folder: string, changed: Values, release = 'team'): readonly unknown[] {
  const read = (name: string): string => readFileSync(path.join(folder, name), 'utf8');
  const values = merge(parse(read('values.yaml')) as Values, changed);
  const root = { Values: values, Release: { Name: release } };
  return readdirSync(path.join(folder, 'templates'))
    .toSorted()
    .flatMap((name) => parseAllDocuments(render(readTree(read(`templates/${name}`)), root, root)))
    .map((document): unknown => {
      if (document.errors.length > 0) throw document.errors[0];
      return document.toJS();
    });
}

/** As Helm does: maps are merged, everything else is replaced. A key that the chart does not know would have no effect, so it is an error. */
function merge(base: Values, changed: Values): Values {
  return Object.fromEntries([
    ...Object.entries(base),
    ...Object.entries(changed).map(([key, value]) => {
      if (!Object.hasOwn(base, key)) throw new Error(`the chart has no value ${key}`);
      const before = base[key];
      return [key, isMap(before) && isMap(value) ? merge(before, value) : value] as const;
    }),
  ]);
}

function isMap(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Texts are leaves whose action starts with a zero byte. */
function readTree(text: string): readonly Node[] {
  const top: Node = { action: '', children: [], otherwise: [] };
  const open: { readonly node: Node; place: Node[] }[] = [{ node: top, place: top.children }];
  const last = (): { readonly node: Node; place: Node[] } => open.at(-1) ?? { node: top, place: top.children };
  const add = (action: string): Node => {
    const node: Node = { action, children: [], otherwise: [] };
    last().place.push(node);
    return node;
  };
  let from = 0;
  let trimsNext = false;
  const addText = (to: number, trimsEnd: boolean): void => {
    const piece = text.slice(from, to);
    const start = trimsNext ? piece.trimStart() : piece;
    add(`\0${trimsEnd ? start.trimEnd() : start}`);
  };
  for (const match of text.matchAll(ACTION)) {
    const [whole, trimsBefore, action = '', trimsAfter] = match;
    addText(match.index, trimsBefore === '-');
    from = match.index + whole.length;
    trimsNext = trimsAfter === '-';
    if (/^(?:if|range) /.test(action)) {
      const node = add(action);
      open.push({ node, place: node.children });
    } else if (action === 'else') last().place = last().node.otherwise;
    else if (action === 'end') {
      if (open.length === 1) throw new Error('an end without a beginning');
      open.pop();
    } else add(action);
  }
  addText(text.length, false);
  if (open.length > 1) throw new Error(`no end of ${last().node.action}`);
  return top.children;
}

function render(nodes: readonly Node[], root: Values, dot: unknown): string {
  return nodes
    .map(({ action, children, otherwise }) => {
      if (action.startsWith('\0')) return action.slice(1);
      const [word = '', ...rest] = action.split(' ');
      const condition = rest.join(' ');
      if (word === 'if') return render(isTrue(evaluate(condition, root, dot)) ? children : otherwise, root, dot);
      if (word === 'range')
        return (evaluate(condition, root, dot) as unknown[]).map((item) => render(children, root, item)).join('');
      return String(evaluate(action, root, dot));
    })
    .join('');
}

function isTrue(value: unknown): boolean {
  return !(value === undefined || value === false || value === 0 || value === '');
}

const TERM = /"[^"]*"|[^\s|]+/g;

function evaluate(text: string, root: Values, dot: unknown): unknown {
  const [first = '', ...pipes] = text.split(' | ');
  return pipes.reduce(
    (value, pipe) => apply([...terms(pipe)], [value], root, dot),
    apply([...terms(first)], [], root, dot),
  );
}

function terms(text: string): readonly string[] {
  return [...text.matchAll(TERM)].map(([term]) => term);
}

/** The value before a pipe is the last argument. */
function apply(
  [name = '', ...words]: readonly string[],
  piped: readonly unknown[],
  root: Values,
  dot: unknown,
): unknown {
  if (/^[."\d]/.test(name)) {
    if (words.length > 0 || piped.length > 0) throw new Error(`not a function: ${name}`);
    return read(name, root, dot);
  }
  const values = [...words.map((word) => read(word, root, dot)), ...piped];
  const call = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  if (call === undefined) throw new Error(`not a function that the chart may use: ${name}`);
  return call(...values);
}

const FUNCTIONS: Readonly<Record<string, (...values: readonly unknown[]) => unknown>> = {
  quote: (value) => JSON.stringify(String(value)),
  not: (value) => !isTrue(value),
  eq: (a, b) => a === b,
  add: (a, b) => Number(a) + Number(b),
  toYaml: (value) => stringify(value).trimEnd(),
  nindent: (size, text) => `\n${String(text)}`.replaceAll('\n', `\n${' '.repeat(Number(size))}`),
  required: (message, value) => {
    if (!isTrue(value)) throw new Error(String(message));
    return value;
  },
};

function read(term: string, root: Values, dot: unknown): unknown {
  if (/^\d+$/.test(term)) return Number(term);
  if (term.startsWith('"')) return JSON.parse(term) as unknown;
  if (term === '.') return dot;
  const names = term.slice(1).split('.');
  return names.reduce((value: unknown, name) => {
    if (!isMap(value) || !Object.hasOwn(value, name)) throw new Error(`the chart has no value ${term}`);
    return value[name];
  }, root);
}
