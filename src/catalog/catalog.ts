import { compareText } from '../core/diagnostic.ts';
import { isForModel } from '../core/skill.ts';
import type { Visibility } from '../core/skill.ts';
import { cleanText } from '../core/text/text.ts';
import { tokenWeight } from '../core/tokens.ts';
import { CATALOG_LAYOUTS } from '../core/catalog-layout.ts';
import type { CatalogFormat } from '../core/catalog-layout.ts';

/** A skill as the catalog needs it. */
export interface CatalogItem {
  readonly name: string;
  readonly description: string;
  readonly source: string;
  readonly state: Visibility;
  /** Higher is kept longer when the budget is short. */
  readonly priority: number;
}

export interface CatalogOptions {
  /** Estimated tokens the whole text may cost. */
  readonly budget: number;
  readonly format: CatalogFormat;
  /** How a model finds what is not shown, as the text names it; absent where it has no way to. */
  readonly searchTool: string | undefined;
}

/** Level 1 as a model will see it. Each visible skill is in exactly one of the four lists. */
export interface Catalog {
  readonly text: string;
  readonly tokens: number;
  readonly full: readonly string[];
  readonly shortened: readonly string[];
  readonly nameOnly: readonly string[];
  readonly omitted: readonly string[];
}

type Form = 'full' | 'shortened' | 'nameOnly' | 'omitted';

/** Below this many characters a description says too little to be worth its tokens. */
const SHORTEST_DESCRIPTION = 48;
/** Descriptions are cut to one of these lengths, the longest that fits: few steps, so that adding a skill rarely moves the others. */
const LENGTHS = [
  Number.POSITIVE_INFINITY,
  1024,
  768,
  512,
  384,
  256,
  192,
  160,
  128,
  96,
  72,
  SHORTEST_DESCRIPTION,
] as const;

const ALWAYS_WHOLE: ReadonlySet<Visibility> = new Set(['pinned', 'required']);

/**
 * Plans level 1 under a budget. The ladder: every description whole; all cut to one common length; the least important by name
 * only; the least important not at all. Pinned and required skills stay whole whatever the budget. The result depends on the
 * set of skills alone, not on their order, the file system or the message, so that prompt caches stay valid.
 */
export function planCatalog(items: readonly CatalogItem[], options: CatalogOptions): Catalog {
  const lines = items
    .filter((item) => isForModel(item.state))
    .map((item) => new CatalogLine(item, options.format))
    .sort((a, b) => compareText(a.name, b.name) || compareText(a.source, b.source));

  for (const length of LENGTHS) {
    const forms = lines.map((line) => line.formAt(length));
    const catalog = compose(lines, forms, length, options);
    if (catalog.tokens <= options.budget) return catalog;
  }
  return compose(lines, degrade(lines, options), SHORTEST_DESCRIPTION, options);
}

/** One skill's line in each of the forms it can take, with what it costs. */
class CatalogLine {
  readonly name: string;
  readonly source: string;
  readonly priority: number;
  readonly #description: string;
  readonly #state: Visibility;
  readonly #format: CatalogFormat;

  constructor(item: CatalogItem, format: CatalogFormat) {
    this.name = item.name;
    this.source = item.source;
    this.priority = item.priority;
    this.#description = oneLine(item.description);
    this.#state = item.state;
    this.#format = format;
  }

  get isKept(): boolean {
    return ALWAYS_WHOLE.has(this.#state);
  }

  formAt(length: number): Form {
    if (this.isKept) return 'full';
    if (this.#state === 'name-only') return 'nameOnly';
    return this.#description.length <= length ? 'full' : 'shortened';
  }

  text(form: Form, length: number): string {
    if (form === 'omitted') return '';
    const description =
      form === 'nameOnly' ? '' : form === 'full' ? this.#description : shorten(this.#description, length);
    return CATALOG_LAYOUTS[this.#format].line({ name: oneLine(this.name), source: oneLine(this.source), description });
  }
}

/** The last two rungs: gives up descriptions, then names, of the least important skills until the rest fits. */
function degrade(lines: readonly CatalogLine[], options: CatalogOptions): readonly Form[] {
  const forms = lines.map((line) => line.formAt(SHORTEST_DESCRIPTION));
  const cost = (index: number, form: Form): number =>
    form === 'omitted' ? 0 : tokenWeight(`${lines[index]?.text(form, SHORTEST_DESCRIPTION) ?? ''}\n`);
  // The note grows with its numbers; the widest one is set aside so that the sum never passes the budget.
  const frame = tokenWeight(frameText(options, widestNote(lines.length, options)));
  let total = frame + forms.reduce((sum, form, index) => sum + cost(index, form), 0);

  const leastImportantFirst = lines
    .map((line, index) => ({ line, index }))
    .filter(({ line }) => !line.isKept)
    .sort(
      (a, b) =>
        a.line.priority - b.line.priority ||
        compareText(b.line.name, a.line.name) ||
        compareText(b.line.source, a.line.source),
    );

  for (const next of ['nameOnly', 'omitted'] as const) {
    for (const { index } of leastImportantFirst) {
      if (total <= options.budget) return forms;
      const now = forms[index];
      if (now === undefined || now === next) continue;
      total += cost(index, next) - cost(index, now);
      forms[index] = next;
    }
  }
  return forms;
}

function compose(
  lines: readonly CatalogLine[],
  forms: readonly Form[],
  length: number,
  options: CatalogOptions,
): Catalog {
  const named = (form: Form): readonly string[] =>
    lines.filter((_, index) => forms[index] === form).map((line) => line.name);
  const [full, shortened, nameOnly, omitted] = [named('full'), named('shortened'), named('nameOnly'), named('omitted')];
  const counts = {
    total: lines.length,
    shortened: shortened.length,
    nameOnly: nameOnly.length,
    omitted: omitted.length,
  };
  const listed = lines.map((line, index) => line.text(forms[index] ?? 'omitted', length)).filter((text) => text !== '');
  const text = frameText(options, coverageNote(counts, options.searchTool), listed);
  return { text, tokens: Math.ceil(tokenWeight(text)), full, shortened, nameOnly, omitted };
}

function frameText(options: CatalogOptions, note: string, listed: readonly string[] = []): string {
  const { open, close } = CATALOG_LAYOUTS[options.format];
  return [open, ...listed, ...(note === '' ? [] : [note]), ...(close === '' ? [] : [close])].join('\n') + '\n';
}

interface Counts {
  readonly total: number;
  readonly shortened: number;
  readonly nameOnly: number;
  readonly omitted: number;
}

/** The one line that tells a model what it does not see, and how to find it. */
function coverageNote({ total, shortened, nameOnly, omitted }: Counts, searchTool: string | undefined): string {
  if (total === 0) return 'No skills are installed.';
  if (shortened + nameOnly + omitted === 0) return '';
  const cuts = [
    ...(shortened > 0 ? [`${shortened} shortened`] : []),
    ...(nameOnly > 0 ? [`${nameOnly} by name only`] : []),
    ...(omitted > 0 ? [`${omitted} not shown`] : []),
  ];
  const rest = searchTool === undefined ? '' : `; find the rest with ${searchTool}`;
  return `${total - omitted} of ${total} skills are listed here (${cuts.join(', ')})${rest}.`;
}

function widestNote(total: number, { searchTool }: CatalogOptions): string {
  return coverageNote({ total: total * 2, shortened: total, nameOnly: total, omitted: total }, searchTool);
}

function oneLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim();
}

/** Cuts at the end of a sentence if one ends in the second half, else between words, else between characters. */
function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const head = text.slice(0, length - 1);
  const sentence = Math.max(...['. ', '; ', '。', '；', '！', '？'].map((end) => head.lastIndexOf(end)));
  if (sentence >= length / 2) return head.slice(0, sentence + 1);
  const space = head.lastIndexOf(' ');
  const cut = space >= length / 2 ? head.slice(0, space) : head;
  return `${cut.replace(/[\uD800-\uDBFF]$/u, '').replace(/[\s,;:，、；：-]+$/u, '')}…`;
}
