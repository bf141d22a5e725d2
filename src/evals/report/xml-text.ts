import { escapeXml } from '../../core/text/text.ts';

/** XML 1.0 has no way to write these, not even as a reference; half characters are no characters. */
// oxlint-disable-next-line no-misleading-character-class
const NO_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
const TERMINAL_SEQUENCE = /\u001B\[[0-9;:<=>?]*[ -/]*[@-~]/g;

/** Text of an element: what cannot be written is left out, and so are colours of terminals. */
export function xmlText(text: string): string {
  return escapeXml(text.replaceAll(TERMINAL_SEQUENCE, '').replaceAll(NO_XML, '')).replaceAll('\r', '&#13;');
}

/** The same in an attribute, where a parser makes spaces of line ends unless they are written out. */
export function xmlAttribute(text: string): string {
  return xmlText(text).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;');
}
