/** Parses the part of XML 1.0 that reports use, and throws if the text is not well-formed. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  text: string;
}

const NOT_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const TAG = /<(\/?)([A-Za-z-]+)((?:\s+[A-Za-z]+="[^"<]*")*)\s*(\/?)>/y;
const REFERENCE = /&(?:(amp|lt|gt|quot)|#(\d+));/g;
const NAMES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

export function readXml(xml: string): readonly XmlElement[] {
  if (NOT_XML.test(xml)) throw new Error('a character that XML does not have');
  const elements: XmlElement[] = [];
  const open: XmlElement[] = [];
  let at = xml.indexOf('?>') + 2;
  while (at < xml.length) {
    const next = xml.indexOf('<', at);
    const text = xml.slice(at, next < 0 ? undefined : next);
    const last = open.at(-1);
    if (last !== undefined) last.text += decoded(text);
    else if (text.trim() !== '') throw new Error(`text outside of the root: ${text}`);
    if (next < 0) break;
    TAG.lastIndex = next;
    const match = TAG.exec(xml);
    if (match === null) throw new Error(`no tag at ${xml.slice(next, next + 80)}`);
    const [whole, isEnd, name = '', attributes = '', isEmpty] = match;
    at = next + whole.length;
    if (isEnd === '/') {
      if (open.pop()?.name !== name) throw new Error(`${name} is closed and not open`);
      continue;
    }
    const element = { name, attributes: attributesOf(attributes), text: '' };
    elements.push(element);
    if (isEmpty !== '/') open.push(element);
  }
  if (open.length > 0) throw new Error(`${open[0]?.name ?? ''} is not closed`);
  return elements;
}

function attributesOf(text: string): Readonly<Record<string, string>> {
  const all = [...text.matchAll(/([A-Za-z]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, decoded(value)]);
  if (new Set(all.map(([name]) => name)).size !== all.length) throw new Error(`duplicate attribute: ${text}`);
  return Object.fromEntries(all);
}

function decoded(text: string): string {
  const bare = text.replaceAll(REFERENCE, '');
  if (bare.includes('&')) throw new Error(`a bare & in ${text}`);
  return text.replaceAll(REFERENCE, (_, name: string | undefined, code: string | undefined) =>
    name === undefined ? String.fromCodePoint(Number(code)) : (NAMES[name] ?? ''),
  );
}
