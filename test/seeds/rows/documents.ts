import type { SeedDocument } from './row.ts';
import { SKILLS_AGENT } from './skills-agent.ts';

/** Every source document that was tried row by row. */
export const DOCUMENTS: readonly SeedDocument[] = [SKILLS_AGENT];

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

/** The section of docs/conformance.md about the source documents. */
export function documentsText(): string {
  return [
    '## The source documents, row by row',
    '',
    'Each row is one statement of a document that was tried from outside; the last column names the test that keeps it. A deviation',
    'gives its reason and the setting that restores what the document says.',
    ...DOCUMENTS.flatMap(documentLines),
  ].join('\n');
}

function documentLines({ title, page, rows }: SeedDocument): readonly string[] {
  const works = rows.filter(({ result }) => result === 'works').length;
  return [
    '',
    `### ${title}`,
    '',
    `${String(works)} of ${String(rows.length)} rows work as written; see [${page}](${page}).`,
    '',
    '| row | the document says | result |',
    '|---|---|---|',
    ...rows.map(
      ({ id, says, result, test, why, setting }) =>
        `| ${id} | ${cell(says)} | ${
          result === 'works'
            ? `works: ${cell(test ?? '')}`
            : `[deviates](${page}): ${cell(why ?? '')} Setting: ${cell(setting ?? '')}`
        } |`,
    ),
  ];
}
