/**
 * Text in PostgreSQL. Neither `text` nor `jsonb` stores U+0000 or half a surrogate pair. Requests with them are refused; what models and
 * programs produce is stored visibly escaped. The lines of a record are JSON text, whose escapes keep every character.
 */

/** U+0000 as `␀`, half a surrogate pair as `�`. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '␀').replaceAll(/\p{Cs}/gu, '\uFFFD');
}

/** JSON for a `jsonb` column, with keys and values as `storableText` writes them. */
export function storableJson(value: unknown): string {
  // `JSON.stringify` escapes a surrogate only if it has no partner.
  return JSON.stringify(value).replaceAll(/\\(?:u(0000|d[89a-f]..)|.)/g, (escape: string, code?: string) =>
    code === undefined ? escape : code === '0000' ? '␀' : '\uFFFD',
  );
}
