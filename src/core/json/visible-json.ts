import { isVisible, nextHidden } from '../text/text.ts';

/**
 * JSON text in which nothing acts on a screen or hides from a reader: no control, no line separator, no mark that turns the direction
 * of text. `cat` of a journal is safe. All such characters stand inside strings, where an escape means the same.
 */
export function visibleJson(json: string): string {
  if (isVisible(json)) return json;
  let out = '';
  let from = 0;
  for (let hidden = nextHidden(json, 0); hidden !== undefined; hidden = nextHidden(json, from)) {
    const end = hidden.index + (hidden.codePoint > 0xffff ? 2 : 1);
    out += json.slice(from, hidden.index);
    for (let at = hidden.index; at < end; at += 1) out += `\\u${json.charCodeAt(at).toString(16).padStart(4, '0')}`;
    from = end;
  }
  return out + json.slice(from);
}
