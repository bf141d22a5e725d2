import { isVisible, findHidden } from '../text/text.ts';

/**
 * Escapes control characters, line separators and text-direction marks in JSON, so that printing a journal is safe. They can occur only
 * inside strings, where an escape is equivalent.
 */
export function visibleJson(json: string): string {
  if (isVisible(json)) return json;
  let out = '';
  let from = 0;
  for (let hidden = findHidden(json); hidden !== undefined; hidden = findHidden(json, from)) {
    const end = hidden.index + (hidden.codePoint > 0xffff ? 2 : 1);
    out += json.slice(from, hidden.index);
    for (let at = hidden.index; at < end; at += 1) out += `\\u${json.charCodeAt(at).toString(16).padStart(4, '0')}`;
    from = end;
  }
  return out + json.slice(from);
}
