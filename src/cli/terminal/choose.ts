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
    const list = new ChoiceList(choices);
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

class ChoiceList {
  readonly #rows: readonly Row[];
  readonly #selected: Set<number>;
  readonly #labelWidth: number;
  #shown: readonly Row[];
  #filter = '';
  #at = 0;
  #page = MAX_ROWS;

  constructor(choices: readonly Choice[]) {
    this.#rows = choices.map(({ label, about = '', unavailable }, index) => {
      const shown = [label, unavailable ?? about].map((text) => printable(sliceStart(text, MAX_TEXT)));
      const [name = '', text = ''] = shown;
      const searched = [name.toLowerCase(), printable(sliceStart(about, MAX_TEXT)).toLowerCase()] as const;
      return { index, label: name, about: text, isAvailable: unavailable === undefined, searched };
    });
    this.#selected = new Set(
      choices.flatMap(({ isSelected, unavailable }, index) =>
        isSelected === true && unavailable === undefined ? [index] : [],
      ),
    );
    this.#labelWidth = Math.max(4, ...this.#rows.map(({ label }) => textWidth(label)));
    this.#shown = this.#rows;
  }

  selected(): readonly number[] {
    return [...this.#selected].toSorted((a, b) => a - b);
  }

  /** Returns false if there is no filter. */
  clearFilter(): boolean {
    if (this.#filter === '') return false;
    this.#setFilter('');
    return true;
  }

  press(key: string): void {
    const last = this.#shown.length - 1;
    if (UP.test(key)) this.#at = this.#at === 0 ? Math.max(0, last) : this.#at - 1;
    else if (DOWN.test(key)) this.#at = this.#at >= last ? 0 : this.#at + 1;
    else if (key === PAGE_UP) this.#at = Math.max(0, this.#at - this.#page);
    else if (key === PAGE_DOWN) this.#at = Math.max(0, Math.min(last, this.#at + this.#page));
    else if (key === ' ') this.#toggle(this.#shown[this.#at]);
    else if (key === CTRL_A) this.#toggleShown();
    else if (key === CTRL_U) this.clearFilter();
    else if (key === '\u007F' || key === '\b') this.#setFilter(Array.from(this.#filter).slice(0, -1).join(''));
    else if (!key.startsWith(ESCAPE) && key >= ' ' && printable(key) === key && this.#filter.length < MAX_FILTER)
      this.#setFilter(this.#filter + key);
  }

  #toggle(row: Row | undefined): void {
    if (row === undefined || !row.isAvailable) return;
    if (!this.#selected.delete(row.index)) this.#selected.add(row.index);
  }

  /** Selects all shown rows, or none of them if all are selected. */
  #toggleShown(): void {
    const available = this.#shown.filter(({ isAvailable }) => isAvailable);
    const areAll = available.every(({ index }) => this.#selected.has(index));
    for (const { index } of available) {
      if (areAll) this.#selected.delete(index);
      else this.#selected.add(index);
    }
  }

  /** Rows whose label matches come first. */
  #setFilter(filter: string): void {
    this.#filter = filter;
    this.#at = 0;
    const wanted = filter.toLowerCase();
    const byLabel = this.#rows.filter(({ searched: [label] }) => label.includes(wanted));
    const byAbout = this.#rows.filter(
      ({ searched: [label, about] }) => !label.includes(wanted) && about.includes(wanted),
    );
    this.#shown = [...byLabel, ...byAbout];
  }

  /** The screen. Every line is shorter than the terminal is wide, so that none wraps. */
  lines(
    title: string,
    note: string,
    { columns, rows }: { readonly columns: number; readonly rows: number },
  ): readonly string[] {
    const width = columns - 1;
    this.#page = Math.max(1, Math.min(MAX_ROWS, rows - FRAME - 1));
    const first = Math.max(0, Math.min(this.#at - Math.floor(this.#page / 2), this.#shown.length - this.#page));
    const labelWidth = Math.min(this.#labelWidth, Math.max(8, Math.floor(width / 2) - 6));
    const visible = this.#shown.slice(first, first + this.#page).map((row, place) => {
      const mark = row.isAvailable ? (this.#selected.has(row.index) ? '[x]' : '[ ]') : ' x ';
      const label = padText(fitText(row.label, labelWidth), labelWidth);
      return fitText(`${first + place === this.#at ? '>' : ' '} ${mark} ${label}  ${row.about}`, width);
    });
    const from = this.#shown.length === 0 ? 'no matches' : `${String(this.#at + 1)} of ${String(this.#shown.length)}`;
    const counted = `${String(this.#selected.size)} of ${String(this.#rows.length)} selected; row ${from}`;
    const help = note === '' ? 'space select, enter continue, ctrl-a all, esc cancel' : note;
    return [
      fitText(printable(title), width),
      ...visible,
      fitText(counted, width),
      fitText(help, width),
      fitText(`type to filter: ${this.#filter}`, width),
    ];
  }
}
