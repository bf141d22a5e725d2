import { collisionKey, isObject, listParentFolders, quoted, toRelativePath, type Problem } from '#core';

/** A file of a skill. */
export interface SourceFile {
  /** Relative to the folder of the skill, with forward slashes: `scripts/fill.py`. */
  readonly path: string;
  readonly content: string | Uint8Array;
  /** Whether programs may start it by its path (default: false). Scripts run by their interpreter without it. */
  readonly executable?: boolean;
}

/** What a source says about a skill before anything of it is used. */
export interface SourceSkill {
  readonly name: string;
  /** The text of its SKILL.md. Its frontmatter is checked like that of a folder; the body is shown once the skill is loaded. */
  readonly skillMd: string;
  /** Changes with its other files, so that `refresh` reads them again (default: only a change of `skillMd` does). */
  readonly version?: string;
}

/** What a source receives with a question. */
export interface SourceOptions {
  /** Aborted when nobody waits for the answer any more: after 60 seconds, and for `read` when the library is closed. */
  readonly signal: AbortSignal;
}

/** Skills that are not in a folder: in a database, behind HTTP, in memory. */
export interface SkillSource {
  /** Names the source in catalogs and problems: lowercase letters, digits and hyphens. */
  readonly name: string;
  /** All skills. Called when a library opens, and by `refresh`. */
  list(options: SourceOptions): readonly SourceSkill[] | Promise<readonly SourceSkill[]>;
  /** The files of a skill besides SKILL.md. Called before the first action that uses the skill; a rejection fails that action alone. */
  read(name: string, options: SourceOptions): readonly SourceFile[] | Promise<readonly SourceFile[]>;
  /** Calls `onChange` when skills changed, and returns a function that stops it. */
  watch?(onChange: () => void): () => void;
}

/** A skill as a value. */
export interface MemorySkill {
  readonly name: string;
  readonly description: string;
  /** The instructions, in Markdown. */
  readonly body: string;
  /** Other files by path, such as `scripts/fill.py`. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Further keys of the frontmatter, such as `license`. */
  readonly frontmatter?: Readonly<Record<string, unknown>>;
}

/** A source that answers at once. */
export interface MemorySource extends SkillSource {
  list(): readonly SourceSkill[];
  read(name: string): readonly SourceFile[];
}

/** Skills from memory, for `from` of `openSkills`. */
export function memorySkills(skills: readonly MemorySkill[], name = 'memory'): MemorySource {
  const byName = new Map(skills.map((skill) => [skill.name, skill]));
  return {
    name,
    list: () => skills.map((skill) => ({ name: skill.name, skillMd: writeSkillMd(skill) })),
    read: (wanted) => Object.entries(byName.get(wanted)?.files ?? {}).map(([path, content]) => ({ path, content })),
  };
}

/** JSON is YAML, so no value can leave its key. */
function writeSkillMd({ name, description, body, frontmatter = {} }: MemorySkill): string {
  const keys = Object.entries({ name, description, ...frontmatter }).filter(([, value]) => value !== undefined);
  const lines = keys.map(
    ([key, value]) => `${/^[\w-]+$/.test(key) ? key : JSON.stringify(key)}: ${JSON.stringify(value)}`,
  );
  return ['---', ...lines, '---', '', body.trimEnd(), ''].join('\n');
}

const MAX_FILES = 10_000;
const MAX_BYTES = 256 * 1024 * 1024;

/** Why the files of a source cannot be the files of a skill; undefined if they can. */
export function findFileProblem(files: unknown): Problem | undefined {
  const refuse = (message: string): Problem => ({
    code: 'source/invalid',
    message,
    hint: 'return relative paths with forward slashes from read(), without SKILL.md',
  });
  if (!Array.isArray(files)) return refuse('read() returned no list of files');
  if (files.length > MAX_FILES) return refuse(`${String(files.length)} files; the limit is ${String(MAX_FILES)}`);
  const seen = new Set<string>();
  let bytes = 0;
  for (const file of files) {
    if (!isObject(file)) return refuse('a file is not an object');
    const { path, content } = file;
    if (typeof path !== 'string') return refuse('a file has no path');
    if (toRelativePath(path) !== path) return refuse(`${quoted(path)} is not a plain relative path`);
    if (typeof content !== 'string' && !(content instanceof Uint8Array))
      return refuse(`the content of ${quoted(path)} is neither text nor bytes`);
    const key = collisionKey(path);
    if (key === 'skill.md') return refuse('SKILL.md is the skillMd of list()');
    if (seen.has(key)) return refuse(`${quoted(path)} occurs twice`);
    seen.add(key);
    bytes += content.length;
  }
  const folder = [...seen].flatMap(listParentFolders).find((parent) => seen.has(parent));
  if (folder !== undefined) return refuse(`${quoted(folder)} is a file and a folder`);
  return bytes > MAX_BYTES ? refuse(`${String(bytes)} bytes; the limit is ${String(MAX_BYTES)}`) : undefined;
}

/** Whether a name can be the folder of a skill. */
export function isFolderName(name: unknown): name is string {
  return typeof name === 'string' && !name.includes('/') && toRelativePath(name) === name;
}
