/** Search results from sources: skills that are not installed, with the command that installs each. */
import { isValidName } from '../../core/skill-name.ts';
import { printable } from '../../core/text/text.ts';
import { fitText, padText, textWidth } from '../../platform/text-width.ts';
import type { AvailableResult, AvailableResults } from '../../packs/browse/search-sources.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { Terminal } from '../terminal/terminal.ts';

export const NOTHING_AVAILABLE: AvailableResults = { results: [], problems: [] };

export interface SearchAvailable {
  readonly home: string | undefined;
  readonly query: string;
  readonly limit: number;
}

export async function searchAvailable(
  runtime: Runtime,
  { home, query, limit }: SearchAvailable,
): Promise<AvailableResults> {
  const { openSourceStore } = await import('../../packs/browse/source-store.ts');
  const store = openSourceStore({ home });
  if (store.files().length === 0) return NOTHING_AVAILABLE;
  const { searchSources } = await import('../../packs/browse/search-sources.ts');
  const installed = new Set(runtime.index.skills.map(({ name }) => name));
  return searchSources(query, { store, limit, installed, cacheDir: runtime.cacheDir });
}

export function availableJson({ name, description, from, source, digest, path, score }: AvailableResult): object {
  return {
    name,
    description,
    score,
    from,
    source,
    path: path ?? null,
    digest: digest ?? null,
    install: installCommand({ name, source }),
  };
}

export function availableLines(
  results: readonly AvailableResult[],
  { style, width, isAnswerOnTerminal }: Terminal,
): readonly string[] {
  if (results.length === 0) return [];
  const nameWidth = Math.min(40, Math.max(...results.map(({ name }) => textWidth(printable(name)))));
  return [
    style('dim', 'not installed:'),
    ...results.flatMap(({ name, description, from, source }) => {
      const start = `        ${style('bold', padText(printable(name), nameWidth))}  ${style('dim', printable(from))}  `;
      const room = width - nameWidth - textWidth(printable(from)) - 12;
      const said = printable(description);
      return [
        start + (isAnswerOnTerminal ? fitText(said, Math.max(20, room)) : said),
        `          ${style('dim', installCommand({ name, source }))}`,
      ];
    }),
  ];
}

/** Both parts come from outside, so whatever a shell would interpret is quoted, and what cannot be shown is replaced. */
function installCommand({ name, source }: Pick<AvailableResult, 'name' | 'source'>): string {
  return `skillwright install ${shellWord(source)}${isValidName(name) ? ` ${shellWord(name)}` : ''}`;
}

function shellWord(text: string): string {
  const shown = printable(text);
  return /^[\w@%+=:,./#-]+$/.test(shown) && !shown.startsWith('#')
    ? shown
    : `'${shown.replaceAll("'", String.raw`'\''`)}'`;
}
