/** Keyboard control: j and k move, Enter opens, Escape goes back, / filters. */
import type { CasesView } from './cases.ts';
import type { Neighbours } from './detail.ts';

/** The current view, taken from the address. */
export interface Place {
  readonly view: string;
  readonly argument: string;
}

export interface KeyTargets {
  readonly cases: CasesView;
  readonly here: () => Place;
  readonly neighbours: (place: number) => Neighbours;
  readonly goTo: (hash: string) => void;
}

export function listenToKeys(targets: KeyTargets): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (isHandled(event, targets)) event.preventDefault();
  });
}

function isHandled({ key, target }: KeyboardEvent, targets: KeyTargets): boolean {
  if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) return whileTyping(key, targets);
  if (key === '/') return startFilter(targets);
  const { view, argument } = targets.here();
  if (view === 'case') return inCase(key, Number(argument), targets);
  return view === 'cases' && inTable(key, targets);
}

function startFilter({ cases, goTo }: KeyTargets): boolean {
  if (!cases.element.isConnected) goTo('#cases');
  cases.filter.focus();
  cases.filter.select();
  return true;
}

/** Escape clears the filter first and then leaves it. */
function whileTyping(key: string, { cases }: KeyTargets): boolean {
  const { filter } = cases;
  if (document.activeElement !== filter) return false;
  if (key === 'Enter' || key === 'ArrowDown') cases.move(0);
  else if (key !== 'Escape') return false;
  else if (filter.value === '') filter.blur();
  else {
    filter.value = '';
    filter.dispatchEvent(new Event('input'));
  }
  return true;
}

function inCase(key: string, place: number, { neighbours, goTo }: KeyTargets): boolean {
  const { before, after } = neighbours(place);
  const next = key === 'j' ? after : key === 'k' ? before : undefined;
  if (next !== undefined) goTo(`#case:${String(next)}`);
  else if (key === 'Escape') goTo('#cases');
  else return false;
  return true;
}

const MOVES: ReadonlyMap<string, number> = new Map([
  ['j', 1],
  ['k', -1],
  ['ArrowDown', 1],
  ['ArrowUp', -1],
  ['PageDown', 10],
  ['PageUp', -10],
  ['Home', -Infinity],
  ['End', Infinity],
]);
/** Keys that enter the table; other keys scroll the page. */
const WAYS_IN: ReadonlySet<string> = new Set(['j', 'k', 'ArrowDown']);

function inTable(key: string, { cases, goTo }: KeyTargets): boolean {
  const by = MOVES.get(key);
  if (by !== undefined && (cases.hasFocus() || WAYS_IN.has(key))) cases.move(by);
  else if (key === 'Enter' && cases.hasFocus()) goTo(`#case:${String(cases.active() ?? 0)}`);
  else return false;
  return true;
}
