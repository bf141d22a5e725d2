import { LineCounter, isNode, isPair, parseDocument, visit } from 'yaml';

import type { JsonPath } from './json-schema.ts';

export interface Position {
  readonly line: number;
  readonly column: number;
}

const START: Position = { line: 1, column: 1 };

/** Where the value at a path stands in a JSON text; its key, where it has one. For messages only: anything odd gives the start. */
export function locateJson(text: string, path: JsonPath): Position {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, schema: 'json', logLevel: 'silent' });
  const at = (offset: number | undefined): Position => {
    if (offset === undefined) return START;
    const { line, col } = lines.linePos(offset);
    return line === 0 ? START : { line, column: col };
  };
  const last = path.at(-1);
  const node = document.getIn(path, true);
  if (typeof last !== 'string') return at(isNode(node) ? node.range?.[0] : undefined);

  let offset: number | undefined;
  visit(document, {
    Pair(_, pair) {
      if (!isPair(pair) || pair.value !== node || !isNode(pair.key)) return undefined;
      offset = pair.key.range?.[0];
      return visit.BREAK;
    },
  });
  return at(offset);
}
