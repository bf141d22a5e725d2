/**
 * Everything a model or a person can ask of a skill. A vocabulary turns its tools' inputs into these; each yields exactly one
 * `Observation`. Nothing here runs anything.
 */
export type Action =
  | SearchSkills
  | LoadSkill
  | ListResources
  | ReadResource
  | SelectDocuments
  | GetScriptPath
  | FinalAnswer;

export type ActionType = Action['type'];

/** Which skill: `name`, `source/name`, `group/name` or an id; `source` narrows it. */
interface OnSkill {
  readonly skill: string;
  readonly source?: string;
}

/** The best skills for a query, by name and description. */
export interface SearchSkills {
  readonly type: 'search_skills';
  readonly query: string;
  /** 5 */
  readonly n?: number;
}

/** Level 2: a skill's instructions, and with them the documents that are asked for. */
export interface LoadSkill extends OnSkill {
  readonly type: 'load_skill';
  /** Documents to show with it; replaces an earlier selection. Absent: the selection stays as it is. */
  readonly documents?: DocumentSelection;
  /** The whole SKILL.md, frontmatter included. */
  readonly whole?: boolean;
}

/** The names, sizes and kinds of a skill's files. No file is opened. */
export interface ListResources extends OnSkill {
  readonly type: 'list_resources';
  /** Only what lies below this folder of the skill. */
  readonly folder?: string;
}

/** Level 3: one file, whole, by section or by lines. */
export interface ReadResource extends OnSkill {
  readonly type: 'read_resource';
  readonly path: string;
  /** A heading; the text from it to the next heading of the same level. */
  readonly section?: string;
  readonly lines?: LineRange;
}

/** 1-based, both ends included; an open end reads on as far as the limit allows. */
export interface LineRange {
  readonly from: number;
  readonly to?: number;
}

/** Every document of a skill, or those named. */
export type DocumentSelection = '*' | readonly string[];

export const SELECT_MODES = ['add', 'replace', 'clear'] as const;
export type SelectMode = (typeof SELECT_MODES)[number];

/** Which documents (`.md` and `.txt`) of a skill are shown with it. */
export interface SelectDocuments extends OnSkill {
  readonly type: 'select_documents';
  readonly mode: SelectMode;
  readonly documents: DocumentSelection;
}

/** Where a script lies, for somebody else's shell. */
export interface GetScriptPath extends OnSkill {
  readonly type: 'get_script_path';
  /** Below `scripts/`; the folder may be named or left out. */
  readonly script: string;
}

export interface FinalAnswer {
  readonly type: 'final_answer';
  readonly answer: string;
}
