/** A list on the terminal from which the user selects any number of rows: filter as you type, space selects, enter continues. */
import { printable, sliceStart } from '#core';
import { fitText, padText, textWidth } from '#platform';
import { isTerminal, readKeys, type AskStreams } from './ask.ts';
import { readColumns } from './terminal.ts';

/** A row of the list. Texts are untrusted; they are shown on one line with invisible characters escaped. */
export interface Choice {
  readonly label: string;
  readonly about?: string;
  /** Why the row cannot be selected. */
  readonly unavailable?: string;
  /** Selected at the start. */
  readonly isSelected?: boolean;
}

export interface ChooseOptions {
  readonly title: string;
  readonly choices: readonly Choice[];
  /** Lets the user continue with nothing selected. */
  readonly mayBeEmpty?: boolean;
  readonly signal: AbortSignal;
}

/**
 * Returns the indexes of the selected choices in their order; undefined without a terminal, or if the user cancels with Esc, Ctrl-C or
 * Ctrl-D. The terminal mode is restored in every case.
 */
export async function chooseMany(
  streams: AskStreams,
  { title, choices, mayBeEmpty = false, signal }: ChooseOptions,
): Promise<readonly number[] | undefined> {
  if (!isTerminal(streams)) return undefined;
  return readKeys<readonly number[] | undefined>(streams, signal, undefined, ({ finish, cancel }) => {
    const { output } = streams;
    const list = openChoiceList(choices);
    let drawn = 0;
    let note = '';
    const erase = (): void => {
      output.write(drawn === 0 ? '' : `\r${drawn > 1 ? `\u001B[${String(drawn - 1)}A` : ''}\u001B[J`);
      drawn = 0;
    };
    const draw = (): void => {
      // Some terminals report 0 rows.
      const { rows = 0 } = output;
      const size = { columns: readColumns(output), rows: rows > 0 ? rows : DEFAULT_ROWS };
      const lines = list.lines(title, note, size);
      erase();
      output.write(lines.join('\r\n'));
      drawn = lines.length;
    };
    const act = (key: string): 'done' | 'more' => {
      note = '';
      if (key === ENTER || key === '\n') {
        const selected = list.selected();
        if (selected.length > 0 || mayBeEmpty) {
          finish(selected);
          return 'done';
        }
        note = 'nothing is selected: press space to select a row, ctrl-a to select all, esc to cancel';
      } else if (key === CTRL_C || key === CTRL_D || (key === ESCAPE && !list.clearFilter())) {
        if (key === CTRL_C) cancel();
        else finish(undefined);
        return 'done';
      } else list.press(key);
      return 'more';
    };
    const onKeys = (typed: string): void => {
      for (const key of typed.match(KEY) ?? []) if (act(key) === 'done') return;
      draw();
    };
    return { onKeys, start: draw, leave: erase };
  });
}

const [ENTER, ESCAPE, CTRL_A, CTRL_C, CTRL_D, CTRL_U] = ['\r', '\u001B', '\u0001', '\u0003', '\u0004', '\u0015'];
/** An escape sequence, or one character. */
const KEY = /\u001B[[O][0-9;]*[A-Za-z~]|./gsu;
const UP = /^\u001B[[O]A$/;
const DOWN = /^\u001B[[O]B$/;
const PAGE_UP = '\u001B[5~';
const PAGE_DOWN = '\u001B[6~';
const DEFAULT_ROWS = 24;
/** Lines besides the rows: title, position, help or note, filter. */
const FRAME = 4;
const MAX_ROWS = 12;
/** Characters of a text that are looked at: enough for any line, and little work for hostile ones. */
const MAX_TEXT = 400;
const MAX_FILTER = 60;

interface Row {
  readonly index: number;
  readonly label: string;
  readonly about: string;
  readonly isAvailable: boolean;
  /** In lower case. */
  readonly searched: readonly [label: string, about: string];
}

interface ChoiceList {
  readonly selected: () => readonly number[];
  /** Returns false if there is no filter. */
  readonly clearFilter: () => boolean;
  readonly press: (key: string) => void;
  /** The screen. Every line is shorter than the terminal is wide, so that none wraps. */
  readonly lines: (
    title: string,
    note: string,
    size: { readonly columns: number; readonly rows: number },
  ) => readonly string[];
}

function openChoiceList(choices: readonly Choice[]): ChoiceList {
  const all = choices.map(({ label, about = '', unavailable }, index): Row => {
    const [name = '', text = ''] = [label, unavailable ?? about].map((one) => printable(sliceStart(one, MAX_TEXT)));
    const searched = [name.toLowerCase(), printable(sliceStart(about, MAX_TEXT)).toLowerCase()] as const;
    return { index, label: name, about: text, isAvailable: unavailable === undefined, searched };
  });
  const selected = new Set(
    all
      .filter(({ index, isAvailable }) => isAvailable && choices[index]?.isSelected === true)
      .map(({ index }) => index),
  );
  const widest = Math.max(4, ...all.map(({ label }) => textWidth(label)));
  let shown: readonly Row[] = all;
  let filter = '';
  let at = 0;
  let page = MAX_ROWS;

  /** Rows whose label matches come first. */
  const setFilter = (next: string): void => {
    filter = next;
    at = 0;
    const typed = filter.toLowerCase();
    const byLabel = all.filter(({ searched: [label] }) => label.includes(typed));
    const byAbout = all.filter(({ searched: [label, about] }) => !label.includes(typed) && about.includes(typed));
    shown = [...byLabel, ...byAbout];
  };
  const clearFilter = (): boolean => {
    const wasSet = filter !== '';
    if (wasSet) setFilter('');
    return wasSet;
  };
  /** Selects these rows, or none of them if all are selected. */
  const toggle = (rows: readonly Row[]): void => {
    const available = rows.filter(({ isAvailable }) => isAvailable);
    const areAll = available.every(({ index }) => selected.has(index));
    for (const { index } of available) {
      if (areAll) selected.delete(index);
      else selected.add(index);
    }
  };
  return {
    selected: () => [...selected].toSorted((a, b) => a - b),
    clearFilter,
    press(key) {
      const last = shown.length - 1;
      if (UP.test(key)) at = at === 0 ? Math.max(0, last) : at - 1;
      else if (DOWN.test(key)) at = at >= last ? 0 : at + 1;
      else if (key === PAGE_UP) at = Math.max(0, at - page);
      else if (key === PAGE_DOWN) at = Math.max(0, Math.min(last, at + page));
      else if (key === ' ') toggle(shown.slice(at, at + 1));
      else if (key === CTRL_A) toggle(shown);
      else if (key === CTRL_U) clearFilter();
      else if (key === '\u007F' || key === '\b') setFilter(Array.from(filter).slice(0, -1).join(''));
      else if (!key.startsWith(ESCAPE) && key >= ' ' && printable(key) === key && filter.length < MAX_FILTER)
        setFilter(filter + key);
    },
    lines(title, note, { columns, rows }) {
      const width = columns - 1;
      page = Math.max(1, Math.min(MAX_ROWS, rows - FRAME - 1));
      const first = Math.max(0, Math.min(at - Math.floor(page / 2), shown.length - page));
      const labelWidth = Math.min(widest, Math.max(8, Math.floor(width / 2) - 6));
      const visible = shown.slice(first, first + page).map((row, place) => {
        const mark = row.isAvailable ? (selected.has(row.index) ? '[x]' : '[ ]') : ' x ';
        const label = padText(fitText(row.label, labelWidth), labelWidth);
        return fitText(`${first + place === at ? '>' : ' '} ${mark} ${label}  ${row.about}`, width);
      });
      const from = shown.length === 0 ? 'no matches' : `${String(at + 1)} of ${String(shown.length)}`;
      return [
        fitText(printable(title), width),
        ...visible,
        fitText(`${String(selected.size)} of ${String(all.length)} selected; row ${from}`, width),
        fitText(note === '' ? 'space select, enter continue, ctrl-a all, esc cancel' : note, width),
        fitText(`type to filter: ${filter}`, width),
      ];
    },
  };
}
