/** Ctrl-R in a line editor: shows the newest earlier message that contains what is typed. Node's editor searches by first letters only. */
import type { Interface } from 'node:readline';

const [CTRL_C, CTRL_G, CTRL_R, ESCAPE] = ['\u0003', '\u0007', '\u0012', '\u001B'];
const BACKSPACE: ReadonlySet<string> = new Set(['\u007F', '\b']);

/** Returns a function that takes keys; it returns false for those that the editor must handle. */
export function openHistorySearch(
  editor: Interface,
  { history, prompt }: { readonly history: readonly string[]; readonly prompt: () => string },
): (typed: string) => boolean {
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
  return (typed) => {
    if (search === undefined) {
      if (typed !== CTRL_R) return false;
      search = { query: '', at: -1, before: editor.line };
      find(editor.line, 0);
      return true;
    }
    if (typed === CTRL_R) find(search.query, search.at + 1);
    else if (BACKSPACE.has(typed)) find(search.query.slice(0, -1), 0);
    else if (/^\P{Cc}+$/u.test(typed)) find(search.query + typed, 0);
    else if (typed === CTRL_C || typed === CTRL_G || typed === ESCAPE) end(search.before);
    else {
      end(editor.line);
      return false;
    }
    return true;
  };
}
