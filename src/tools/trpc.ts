import { SELECT_MODES } from '../core/action.ts';
import type { DocumentSelection } from '../core/action.ts';
import { escapeHeaderLines } from '../core/text/delimit-untrusted.ts';
import type { ShownDocument } from '../core/observation.ts';
import { printable } from '../core/text/text.ts';
import type { LoadedContent, ToolInput, ToolRow, Vocabulary } from '../core/tool.ts';
import { flag, inputOf, isSet, optionalTextOf, skillName, textOf, texts, textsOf } from './parameters.ts';
import { singleAction } from './single-action.ts';
import { TRPC_RUN } from './trpc-run.ts';
import {
  LOADING_RUNS_NOTHING,
  NOTE_MARK,
  ROUTING_ONLY,
  askedSkill,
  documentNotes,
  failureText,
  guidanceFor,
  inOrder,
  loadNote,
  loadNotes,
  withNotes,
} from './wording.ts';

/** Line starts that trpc uses to separate contents; a skill text must not contain them. */
const HEADERS = ['[Loaded]', '[Doc]', 'Docs loaded:', 'loaded:', NOTE_MARK];

const documentParameters = {
  docs: texts('Documents (.md, .txt) of the skill, by path.'),
  include_all_docs: flag('Include every document of the skill.'),
};

const load: ToolRow = singleAction({
  name: 'skill_load',
  description:
    'Load the instructions of a skill, and the named documents of it. Load before you use a skill. Loading runs nothing.',
  action: 'load_skill',
  schema: (offer) => inputOf('Which skill.', { skill: skillName(offer), ...documentParameters }, ['skill']),
  toAction(input) {
    const documents = selectionOf(input);
    const isGiven = documents === '*' || documents.length > 0;
    return { type: 'load_skill', skill: textOf(input, 'skill'), ...(isGiven ? { documents } : {}) };
  },
  toResult(loaded, offer) {
    const { skill, text, documents } = loaded;
    const line = `loaded: ${skill.name}`;
    if (offer.placement === 'system') return line;
    const note = loadNote(loaded, offer);
    if (note !== undefined && documents.length === 0) return `${line}\n\n${note}`;
    const content = materialised({ name: skill.name, text, documents: documents.map(shown) });
    return `${line}\n\n${withNotes(content, [...loadNotes(loaded), ...(note === undefined ? [] : [note])])}`;
  },
});

const selectDocs: ToolRow = singleAction({
  name: 'skill_select_docs',
  description: 'Choose which documents of a loaded skill are shown: add to the selection, replace it or clear it.',
  action: 'select_documents',
  schema: (offer) =>
    inputOf(
      'Which documents.',
      {
        skill: skillName(offer),
        ...documentParameters,
        // trpc treats an unknown mode as the default.
        mode: {
          type: 'string',
          description: 'How to change the selection.',
          enum: SELECT_MODES,
          isOpen: true,
          default: 'replace',
        },
      },
      ['skill'],
    ),
  toAction(input) {
    const asked = optionalTextOf(input, 'mode')?.trim().toLowerCase();
    const mode = SELECT_MODES.find((known) => known === asked) ?? 'replace';
    const documents = mode === 'clear' ? [] : selectionOf(input);
    return { type: 'select_documents', skill: textOf(input, 'skill'), mode, documents };
  },
  toResult({ skill, selected, mode, documents }, { placement }) {
    const content =
      placement === 'tool-results' && documents.length > 0
        ? withNotes(documentsText(documents.map(shown)).trim(), documentNotes(documents))
        : undefined;
    return {
      skill: skill.name,
      selected_docs: selected === '*' ? [] : selected.toSorted(),
      include_all_docs: selected === '*',
      mode,
      ...(content === undefined ? {} : { content }),
    };
  },
});

const listDocs: ToolRow = singleAction({
  name: 'skill_list_docs',
  description: 'List the documents (.md, .txt) of a skill. Opens none of them.',
  action: 'list_resources',
  schema: (offer) => inputOf('Which skill.', { skill: skillName(offer) }, ['skill']),
  toAction: (input) => ({ type: 'list_resources', skill: textOf(input, 'skill') }),
  toResult: ({ files }) =>
    inOrder(files)
      .map(({ path }) => path)
      .filter((path) => /\.(?:md|txt)$/i.test(path) && path.toLowerCase() !== 'skill.md'),
});

/** The tools of trpc-agent-go: its `knowledge_only` profile, and the full one if execution is enabled. */
export const trpc: Vocabulary = {
  name: 'trpc',
  tools: [load, selectDocs, listDocs, ...TRPC_RUN],
  loadTool: 'skill_load',
  catalogFormat: 'list',
  guidance: (offered) =>
    guidanceFor(offered, [
      'When a task fits a skill, call skill_load first.',
      ROUTING_ONLY,
      'If the instructions refer to documents, name them in skill_load, or find them with skill_list_docs and choose the few you need with skill_select_docs.',
      LOADING_RUNS_NOTHING,
    ]),
  showLoaded: materialised,
  toFailure: (failed, { action }) =>
    failureText(failed, failed.code === 'skill/unknown' ? { subject: `unknown skill: ${askedSkill(action)}` } : {}),
};

function selectionOf(input: ToolInput): DocumentSelection {
  return isSet(input, 'include_all_docs') ? '*' : textsOf(input, 'docs');
}

type Document = LoadedContent['documents'][number];

function shown({ text, report }: ShownDocument): Document {
  return { path: report.path, text, digest: report.digest };
}

/** Renders a loaded skill in the format of trpc. No text can pass for the start of another one. */
function materialised({ name, text, documents }: Pick<LoadedContent, 'name' | 'text' | 'documents'>): string {
  const body = text === '' ? '' : `[Loaded] ${printable(name)}\n\n${inert(text)}\n`;
  const names = inOrder(documents)
    .map(({ path }) => printable(path))
    .join(', ');
  return `${body}Docs loaded: ${names === '' ? 'none' : names}\n${documentsText(documents)}`.trimEnd();
}

function documentsText(documents: readonly Document[]): string {
  return inOrder(documents)
    .map(({ path, text }) => `\n[Doc] ${printable(path)}\n\n${inert(text)}\n`)
    .join('');
}

function inert(text: string): string {
  return escapeHeaderLines(text.trimEnd(), HEADERS);
}
