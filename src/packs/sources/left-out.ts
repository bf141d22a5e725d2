/** Files that are never part of a skill, such as version control and hidden files. Every source and pack excludes and reports them. */
import { isNeverSearched, printable } from '#core';

const KEPT_FILES: ReadonlySet<string> = new Set(['.gitignore', '.skillignore', '.env.example', '.gitkeep']);
const VERSION_CONTROL: ReadonlySet<string> = new Set(['.git', '.svn', '.hg']);
const SYSTEM: ReadonlySet<string> = new Set(['__macosx', '.ds_store']);

const HIDDEN_FOLDER = 'hidden folder';

/** Why a name is not part of a skill; undefined if it is. */
export function whyLeftOut(name: string, type: 'file' | 'folder'): string | undefined {
  const start = name.charAt(0);
  if (start !== '.' && start !== '_') return undefined;
  const folded = name.toLowerCase();
  if (SYSTEM.has(folded)) return 'system file';
  if (start !== '.') return undefined;
  if (VERSION_CONTROL.has(folded)) return 'version control';
  if (type === 'folder') return HIDDEN_FOLDER;
  return KEPT_FILES.has(name) ? undefined : 'hidden file';
}

/** Why a folder of a source is not searched for skills. Hidden folders are: collections keep skills in `.curated` or `.claude/skills`. */
export function whyNotSearched(name: string): string | undefined {
  const reason = whyLeftOut(name, 'folder');
  if (reason !== undefined && reason !== HIDDEN_FOLDER) return reason;
  return isNeverSearched(name) === false ? undefined : 'not searched';
}

export interface LeftOut {
  /** The outermost excluded name. */
  readonly path: string;
  readonly type: 'file' | 'folder';
  readonly reason: string;
}

/** The same for a path inside a skill, including its folders. */
export function findOmission(path: string, type: 'file' | 'folder'): LeftOut | undefined {
  const parts = path.split('/');
  for (const [place, part] of parts.entries()) {
    const partType = place < parts.length - 1 ? 'folder' : type;
    const reason = whyLeftOut(part, partType);
    if (reason !== undefined) return { path: parts.slice(0, place + 1).join('/'), type: partType, reason };
  }
  return undefined;
}

/** One line for the user, equal for all kinds of sources. */
export function leftOutLine({ path, type, reason }: LeftOut): string {
  return `${printable(path.normalize('NFC'))}${type === 'folder' ? '/' : ''}: ${reason}`;
}
