import {
  jsonSchema,
  escapeHeaderLines,
  printable,
  type Offer,
  type ToolRow,
  type Vocabulary,
  type Action,
  type OfType,
  type Observation,
} from '#core';
import { named, offsetParameter, skillChoice, skillName, texts } from './parameters.ts';
import { PROFILES } from './profiles.ts';
import { always, defineTool, observed, singleAction } from './single-action.ts';
import { TRPC_RUN } from './trpc-run.ts';
import { trpcStateDelta } from './trpc-state.ts';
import {
  NOTE_MARK,
  ROUTING_ONLY,
  askedSkill,
  documentNotes,
  failureText,
  guidanceFor,
  inOrder,
  loadNote,
  loadNotes,
  unknownSkill,
  withNotes,
  type ContinueCall,
} from './wording.ts';

/** Line starts that trpc uses to separate contents; a skill text must not contain them. */
const HEADERS = ['[Loaded]', '[Doc]', 'Docs loaded:', 'loaded:', NOTE_MARK];

const documentParameters = {
  docs: named(texts('Documents (.md, .txt) of the skill, by path.')),
  include_all_docs: named(jsonSchema.flag('Include every document of the skill.')),
};

const continueWith: ContinueCall = (skill, path, offset) =>
  `skill_select_docs(skill=${skill}, docs=[${path}], mode=add${offset === 0 ? '' : `, offset=${String(offset)}`})`;

const load: ToolRow = singleAction({
  name: 'skill_load',
  description: 'Load the instructions of a skill, and documents of it by path. Runs nothing.',
  action: 'load_skill',
  isOffered: always,
  schema: (offer) =>
    jsonSchema.section('Which skill.', { skill: skillChoice(offer), ...documentParameters }, ['skill']),
  toAction({ skill, ...input }) {
    const documents = toSelection(input);
    const isGiven = documents === '*' || documents.length > 0;
    return { type: 'load_skill', skill, uncut: true, documents: isGiven ? documents : undefined };
  },
  toResult: loadResult,
});

function loadResult(loaded: OfType<Observation, 'skill-loaded'>, offer: Offer): string {
  const { skill, text, documents } = loaded;
  const line = `loaded: ${skill.name}`;
  const notes = loadNotes(loaded, continueWith);
  if (offer.placement === 'system') return withNotes(line, notes);
  const note = loadNote(loaded, offer);
  if (note !== undefined && documents.length === 0) return withNotes(`${line}\n\n${note}`, notes);
  const content = materialised({ name: skill.name, text, documents: documents.map(shown) }, note === undefined);
  return `${line}\n\n${withNotes(content, [...notes, ...(note === undefined ? [] : [note])])}`;
}

const selectDocs: ToolRow = defineTool({
  name: 'skill_select_docs',
  description: 'Choose which documents of a skill are shown.',
  action: 'select_documents',
  isOffered: always,
  schema: () =>
    jsonSchema.section(
      'Which documents.',
      {
        skill: skillName,
        ...documentParameters,
        // trpc treats an unknown mode as the default.
        mode: {
          ...jsonSchema.text('How to change the selection.'),
          brief: 'type',
          enum: ['add', 'replace', 'clear'],
          isOpen: true,
          default: 'replace',
        },
        offset: offsetParameter,
      },
      ['skill'],
    ),
  toActions({ skill, offset, mode: modeText, ...input }, offer) {
    const mode = toSelectMode(modeText);
    const documents = mode === 'clear' ? [] : toSelection(input);
    // Documents are of use only with the instructions, so selecting them loads the skill.
    // A name that is offered as written is that skill, also beside one that differs in case.
    const isSame = offer.skills.includes(skill.trim()) ? isEqual : sameName;
    const isLoaded = offer.loaded().some(({ id, name }) => isSame(name, skill) || isSame(id, skill));
    if (!isLoaded) {
      const load = { type: 'load_skill', skill, uncut: true, documents } as const;
      return mode === 'replace' ? [load] : [load, { type: 'select_documents', skill, mode, documents: [] }];
    }
    return [{ type: 'select_documents', skill, mode, documents, offset }];
  },
  toResult([observation, next], offer) {
    if (observation?.type === 'skill-loaded') {
      const { skill, selected = [] } = observation;
      const mode = next?.type === 'documents-selected' ? next.mode : 'replace';
      return { ...selection(skill.name, selected, mode), content: loadResult(observation, offer) };
    }
    const { skill, selected, mode, documents, omitted, notes = [] } = observed(observation, 'select_documents');
    const all = [...documentNotes({ skill, documents, omitted }, continueWith), ...notes.map(printable)];
    const isShown = offer.placement === 'tool-results' && documents.length > 0;
    const content = withNotes(isShown ? documentsText(documents.map(shown)).trim() : '', all);
    return { ...selection(skill.name, selected, mode), ...(content === '' ? {} : { content }) };
  },
});

function toSelectMode(text = ''): OfType<Action, 'select_documents'>['mode'] {
  const mode = text.trim().toLowerCase();
  return mode === 'add' || mode === 'clear' ? mode : 'replace';
}

function isEqual(one: string, other: string): boolean {
  return one === other.trim();
}

function sameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.trim().toLowerCase();
}

function selection(
  skill: string,
  selected: OfType<Action, 'select_documents'>['documents'],
  mode: OfType<Action, 'select_documents'>['mode'],
): object {
  return {
    skill,
    selected_docs: selected === '*' ? [] : selected.toSorted(),
    include_all_docs: selected === '*',
    mode,
  };
}

const listDocs: ToolRow = singleAction({
  name: 'skill_list_docs',
  description: 'List the documents of a skill.',
  action: 'list_resources',
  isOffered: always,
  schema: () => jsonSchema.section('Which skill.', { skill: skillName }, ['skill']),
  toAction: (input) => ({ type: 'list_resources', ...input }),
  toResult: ({ files }) =>
    inOrder(files)
      .map(({ path }) => path)
      .filter((path) => /\.(?:md|txt)$/i.test(path) && path.toLowerCase() !== 'skill.md'),
});

/** The tools of trpc-agent-go: its `knowledge_only` profile, and the full one if execution is enabled. */
export const trpc: Vocabulary = {
  name: 'trpc',
  profile: PROFILES.trpc,
  tools: [load, selectDocs, listDocs, ...TRPC_RUN],
  loadTool: 'skill_load',
  catalogFormat: PROFILES.trpc.settings.catalog.format,
  guidance: (offered) =>
    guidanceFor(offered, [
      'When a task fits a skill, call skill_load first.',
      ROUTING_ONLY,
      'Then run the commands that the instructions name with skill_run.',
      'Documents that the instructions refer to: name them in skill_load, or choose from skill_list_docs with skill_select_docs.',
    ]),
  showLoaded: (content) => materialised(content),
  stateDelta: trpcStateDelta,
  toFailure: (failed, { action }) => failureText(failed, unknownSkill(failed, `unknown skill: ${askedSkill(action)}`)),
};

interface DocumentInput {
  readonly docs?: readonly string[];
  readonly include_all_docs?: boolean;
}

function toSelection({ docs = [], include_all_docs: isAll }: DocumentInput) {
  return isAll === true ? '*' : docs;
}

type Document = Parameters<Vocabulary['showLoaded']>[0]['documents'][number];

function shown({ text, report }: OfType<Observation, 'skill-loaded'>['documents'][number]): Document {
  return { path: report.path, text, digest: report.digest };
}

/** Renders a loaded skill in the format of trpc. No text can pass for the start of another one. */
function materialised(
  { name, text, documents }: Pick<Parameters<Vocabulary['showLoaded']>[0], 'name' | 'text' | 'documents'>,
  hasBody = true,
): string {
  const head = `[Loaded] ${printable(name)}\n`;
  const body = !hasBody ? '' : inert(text) === '' ? head : `${head}\n${inert(text)}\n`;
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
