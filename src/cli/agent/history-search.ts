/** Ctrl-R in a line editor: shows the newest earlier message that contains what is typed. Node's editor searches by first letters only. */
import type { Interface } from 'node:readline';

const [CTRL_C, CTRL_G, CTRL_R, ESCAPE] = ['\u0003', '\u0007', '\u0012', '\u001B'];
const BACKSPACE: ReadonlySet<string> = new Set(['\u007F', '\b']);

/** Returns a function that takes keys and returns those that the editor must handle. Keys that were typed fast come in one chunk. */
export function openHistorySearch(
  editor: Interface,
  { history, prompt }: { readonly history: readonly string[]; readonly prompt: () => string },
): (typed: string) => string {
  let search: { readonly query: string; readonly at: number; readonly before: string } | undefined;
  const show = (line: string, label: string): void => {
    editor.write(null, { ctrl: true, name: 'e' });
    editor.write(null, { ctrl: true, name: 'u' });
    if (line !== '') editor.write(line);
    editor.setPrompt(label);
    editor.prompt(true);
  };
  const find = (query: string, from: number): void => {
    if (search === undefined) return;
    const at = query === '' ? -1 : history.findIndex((line, place) => place >= from && line.includes(query));
    const isFound = at !== -1;
    search = { ...search, query, at: isFound ? at : search.at };
    const label = query === '' || isFound ? 'search' : 'no match';
    show(isFound ? (history[at] ?? '') : editor.line, `(${label}: ${query}) `);
  };
  const end = (line: string): void => {
    search = undefined;
    show(line, prompt());
  };
  const take = (key: string): boolean => {
    if (search === undefined) {
      if (key !== CTRL_R) return false;
      search = { query: '', at: -1, before: editor.line };
      find(editor.line, 0);
      return true;
    }
    if (key === CTRL_R) find(search.query, search.at + 1);
    else if (BACKSPACE.has(key)) find(Array.from(search.query).slice(0, -1).join(''), 0);
    else if (/^\P{Cc}+$/u.test(key)) find(search.query + key, 0);
    else if (key === CTRL_C || key === CTRL_G || key === ESCAPE) end(search.before);
    else {
      end(editor.line);
      return false;
    }
    return true;
  };
  return (typed) => {
    const at = typed.indexOf(CTRL_R);
    if (search === undefined && at === -1) return typed;
    // What comes before Ctrl-R is typed first.
    if (search === undefined && at > 0) editor.write(typed.slice(0, at));
    const keys = typed.slice(search === undefined ? at : 0);
    const pieces = keys.startsWith(ESCAPE) ? [keys] : Array.from(keys);
    const left = pieces.findIndex((key) => !take(key));
    return left === -1 ? '' : pieces.slice(left).join('');
  };
}
