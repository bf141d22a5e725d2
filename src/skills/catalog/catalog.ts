import { CATALOG_LAYOUTS, cleanText, compareText, isForModel, sliceStart, tokenWeight, type SkillEntry } from '#core';

/** The data of a skill that the catalog uses. */
export interface CatalogItem {
  readonly name: string;
  readonly description: string;
  readonly source: string;
  readonly state: SkillEntry['state'];
  /** Skills with higher priority keep their description longer. */
  readonly priority: number;
}

export interface CatalogOptions {
  /** Maximum number of estimated tokens of the whole text. */
  readonly budget: number;
  readonly format: keyof typeof CATALOG_LAYOUTS;
  /** The name of the tool that finds skills which are not shown; absent without such a tool. */
  readonly searchTool: string | undefined;
  /** Why the catalog is empty, if it is. */
  readonly emptyReason?: string | undefined;
}

/** Level 1 as a model will see it. Each visible skill is in exactly one of the four lists. */
export interface Catalog {
  readonly text: string;
  readonly tokens: number;
  readonly full: readonly string[];
  readonly shortened: readonly string[];
  readonly nameOnly: readonly string[];
  readonly omitted: readonly string[];
  /** Why no skill is listed, and what to do; absent if one is. */
  readonly emptyReason?: string;
}

type Form = 'full' | 'shortened' | 'nameOnly' | 'omitted';

/** A description cut to fewer characters is not worth its tokens. */
const SHORTEST_DESCRIPTION = 48;
/** Descriptions are cut to the longest of these lengths that fits. Few steps mean that adding a skill rarely changes the others. */
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

/**
 * Plans level 1 under a token budget, in four steps: complete descriptions; all descriptions cut to one length; the least important
 * skills by name only; the least important skills omitted. Pinned and required skills are always complete. The result depends only
 * on the set of skills, not on their order, the file system or the message, so that prompt caches stay valid.
 */
export function planCatalog(items: readonly CatalogItem[], options: CatalogOptions): Catalog {
  const lines = items
    .filter((item) => isForModel(item.state))
    .map((item): CatalogLine => ({
      ...item,
      description: oneLine(item.description),
      isKept: item.state === 'pinned' || item.state === 'required',
    }))
    .sort((a, b) => compareText(a.name, b.name) || compareText(a.source, b.source));

  for (const length of LENGTHS) {
    const forms = lines.map((line) => formAt(line, length));
    const catalog = compose(lines, forms, length, options);
    if (catalog.tokens <= options.budget) return catalog;
  }
  return compose(lines, degrade(lines, options), SHORTEST_DESCRIPTION, options);
}

/** A skill whose texts are one line each. */
interface CatalogLine extends CatalogItem {
  /** Always complete. */
  readonly isKept: boolean;
}

function formAt({ isKept, state, description }: CatalogLine, length: number): Form {
  if (isKept) return 'full';
  if (state === 'name-only') return 'nameOnly';
  return description.length <= length ? 'full' : 'shortened';
}

function lineText(line: CatalogLine, form: Form, length: number, { format }: CatalogOptions): string {
  if (form === 'omitted') return '';
  const description = form === 'nameOnly' ? '' : form === 'full' ? line.description : shorten(line.description, length);
  return CATALOG_LAYOUTS[format].line({ name: oneLine(line.name), source: oneLine(line.source), description });
}

/** The last two steps: drops descriptions, then names, of the least important skills until the rest fits. */
function degrade(lines: readonly CatalogLine[], options: CatalogOptions): readonly Form[] {
  const forms = lines.map((line) => formAt(line, SHORTEST_DESCRIPTION));
  const cost = (line: CatalogLine, form: Form): number =>
    form === 'omitted' ? 0 : tokenWeight(`${lineText(line, form, SHORTEST_DESCRIPTION, options)}\n`);
  // Reserves room for the longest possible note, so that the total never exceeds the budget.
  const frame = tokenWeight(frameText(options, widestNote(lines.length, options)));
  let total = frame + lines.reduce((sum, line, index) => sum + cost(line, forms[index] ?? 'omitted'), 0);

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
    for (const { line, index } of leastImportantFirst) {
      if (total <= options.budget) return forms;
      const now = forms[index];
      if (now === undefined || now === next) continue;
      total += cost(line, next) - cost(line, now);
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
  const listed = lines
    .map((line, index) => lineText(line, forms[index] ?? 'omitted', length, options))
    .filter((text) => text !== '');
  // ManusX adds nothing to the prompt without skills.
  const isNothing = lines.length === 0 && options.format === 'expertise';
  const text = isNothing ? '' : frameText(options, coverageNote(counts, options.searchTool), listed);
  const { emptyReason } = options;
  return {
    text,
    tokens: Math.ceil(tokenWeight(text)),
    full,
    shortened,
    nameOnly,
    omitted,
    ...(lines.length === 0 && emptyReason !== undefined ? { emptyReason } : {}),
  };
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

/** The line that tells the model how many skills are hidden and how to find them. */
function coverageNote({ total, shortened, nameOnly, omitted }: Counts, searchTool: string | undefined): string {
  if (total === 0) return 'No skills are available.';
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

/** Cuts at the end of a sentence in the second half, otherwise between words, otherwise between characters. */
function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const head = sliceStart(text, length - 1);
  const sentence = Math.max(...['. ', '; ', '。', '；', '！', '？'].map((end) => head.lastIndexOf(end)));
  if (sentence >= length / 2) return head.slice(0, sentence + 1);
  const space = head.lastIndexOf(' ');
  const cut = space >= length / 2 ? head.slice(0, space) : head;
  // Escaped, because one such character would make Node keep the whole file of the command in two bytes per character.
  return `${cut.replace(/[\s,;:\uFF0C\u3001\uFF1B\uFF1A-]+$/u, '')}…`;
}
