/** The rows as Markdown: the section of docs/conformance.md, and "where we differ" of each vocabulary page. */

import type { Choice, SeedDocument, SeedRow } from './row.ts';

/** Text in a cell of a table. Code is shown as written. */
export const cell = (text: string): string =>
  text.replaceAll('|', '\\|').replaceAll(/`[^`]*`|</g, (part) => (part === '<' ? '&lt;' : part));

const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

function showTest(test: string): string {
  const [file = '', title = ''] = test.split(/: (.*)/s);
  return `${cell(title)} (\`${file}\`)`;
}

const deviating = (rows: readonly SeedRow[]): readonly SeedRow[] => rows.filter(({ deviation }) => deviation);

/** "3 rows deviate", "1 row deviates". */
const counted = (count: number, one: string, many: string): string => `${String(count)} ${count === 1 ? one : many}`;

/** The one table of deviations; `documents` gives its rows. */
function deviationTable(rows: readonly SeedRow[]): string {
  return table(
    ['row', 'the document', 'ours', 'why', 'setting that restores it'],
    deviating(rows).map(({ id, says, deviation }) => [
      id,
      `${cell(says)} (“${cell(deviation?.sentence ?? '')}”)`,
      cell(deviation?.ours ?? ''),
      cell(deviation?.why ?? ''),
      deviation?.restoredBy.map(({ setting }) => code(setting)).join(', or ') || 'none',
    ]),
  );
}

function choicesText(choices: readonly Choice[]): string {
  if (choices.length === 0) return '';
  const rows = choices.map(({ theirs, ours, why, test }) => [cell(theirs), cell(ours), cell(why), showTest(test)]);
  return `\n\nWhere the document is silent, and its system does something else:\n\n${table(['theirs', 'ours', 'why', 'test'], rows)}`;
}

function documentSection({ title, page, rows, choices, tests }: SeedDocument): string {
  const replayed = tests.map((file) => `\`${file}\``).join(', ');
  const works = rows.length - deviating(rows).length;
  const lines = rows.map(({ id, says, test, deviation }) => [
    id,
    cell(says),
    deviation === undefined ? 'works' : 'differs, see [the table](#deviations)',
    showTest(test),
  ]);
  return `### ${title}\n\n${String(works)} of ${counted(rows.length, 'row works', 'rows work')} ([vocabulary](${page}); worked examples: ${replayed}).\n\n${table(['row', 'the document says', 'here', 'test'], lines)}${choicesText(choices)}`;
}

/** The opening sentence of the page: every number is counted. */
export function countRows(documents: readonly SeedDocument[]): string {
  const rows = documents.flatMap((document) => document.rows);
  const differ = deviating(rows).length;
  return `${String(rows.length)} rows, ${String(rows.length - differ)} work, ${counted(differ, 'deviation', 'deviations')}`;
}

/** What every document says, and the table of all deviations. */
export function conformanceSection(documents: readonly SeedDocument[]): string {
  const rows = documents.flatMap((document) => document.rows);
  return `## Source documents

Every feature, parameter, default, result and rule of the documents that the vocabularies come from: ${countRows(documents)}. A row names the test that shows it. A deviation says why, and a setting that restores the behaviour of the document is used by a test. Below each document is what we chose where it is silent.

### Deviations

${deviationTable(rows)}

${documents.map(documentSection).join('\n\n')}`;
}

/** The section of a vocabulary page. */
export function differencesSection({ rows, choices }: SeedDocument): string {
  const differ = deviating(rows).length;
  const deviations =
    differ === 0
      ? 'No statement of the document.'
      : `${counted(differ, 'statement', 'statements')} of the document, with the row of the [conformance page](../conformance.md#deviations):\n\n${deviationTable(rows)}`;
  return `## Where we differ, and why\n\n${deviations}${choicesText(choices)}`;
}
