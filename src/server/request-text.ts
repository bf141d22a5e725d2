import { httpError } from './http-error.ts';

/**
 * Throws a 400 for U+0000 or half a surrogate pair in a key or a value. Neither belongs to a request: file systems and databases refuse
 * the first, and the second is not valid Unicode.
 */
export function checkText(part: string, value: unknown): void {
  // Not recursive: a small body can be nested a hundred thousand levels deep.
  const left: (readonly [place: string, value: unknown])[] = [[part, value]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [place, one] = next;
    if (typeof one === 'string') checkString(place, one);
    else if (typeof one === 'object' && one !== null)
      for (const [key, item] of Object.entries(one)) {
        checkString(`${place}: a key`, key);
        left.push([place === part ? `${part} ${key}` : `${place}.${key}`, item]);
      }
  }
}

function checkString(place: string, text: string): void {
  const [found] = /\0|\p{Cs}/u.exec(text) ?? [];
  if (found === undefined) return;
  const name = found === '\0' ? 'the character U+0000' : 'half a surrogate pair';
  throw httpError(400, `invalid ${place.slice(0, 200)}: it contains ${name}`, 'remove it from the request');
}
