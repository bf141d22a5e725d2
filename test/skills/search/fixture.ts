import type { SearchDocument, SearchIndex } from '../../../src/skills/search/search-index.ts';

/** A small catalog with near neighbours, two languages and a skill that says what it is not for. */
export const CATALOG: readonly SearchDocument[] = [
  {
    name: 'kubernetes-deploy',
    description: 'Deploy services to Kubernetes clusters. Use when writing Helm charts, manifests or rollouts.',
  },
  {
    name: 'pdf-forms',
    description:
      'Fill in PDF forms and extract their fields. Use when the user mentions "fill a form", AcroForm or XFA.',
  },
  { name: 'pdf-merge', description: 'Merge, split and rotate PDF files. Do not use for forms; use pdf-forms instead.' },
  { name: 'cold-email', description: 'Write cold outreach emails that get replies, with follow-ups.' },
  {
    name: 'email-sequence',
    description: 'Plan drip campaigns and lifecycle email. For cold outreach to strangers, see cold-email.',
  },
  { name: 'slides-maker', description: 'Create PowerPoint presentations (.pptx) from an outline.' },
  { name: 'database-tuning', description: 'Find slow queries and add indexes in PostgreSQL databases.' },
  { name: 'golang-testing', description: 'Table-driven tests, fuzzing and benchmarks for Go services.' },
  { name: 'xhs-notes', description: '撰写小红书笔记：选题、标题、标签与封面。当用户说“写一篇小红书”时使用。' },
  { name: 'contract-review', description: '审查合同条款，找出法律风险并给出修改建议。' },
  { name: 'meeting-minutes-ja', description: '会議の録音から議事録を作成し、要約とタスク一覧をまとめます。' },
  { name: 'translate-ko', description: '한국어 문서를 영어로 번역합니다. 번역 메모리를 사용합니다.' },
  { name: 'invoice-reader', description: 'Read invoices and receipts, check totals and export them to a spreadsheet.' },
];

/** The names of the hits, best first. */
export function namesFound(index: SearchIndex, query: string, limit?: number, catalog = CATALOG): readonly string[] {
  return index.search(query, limit).map(({ position }) => catalog[position]?.name ?? '?');
}
