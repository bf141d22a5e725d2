/** What the system says while sources are brought, packs written and roots changed, as refusals. What is not the system's flies on. */
import { PackRefused, packRefusal, systemProblem } from './problems.ts';
import type { PackProblem, PackRefusal } from './problems.ts';
import { quoted } from '../core/text/text.ts';
import { isSystemError } from '../platform/fs/paths.ts';
import type { TreeProblem, TreeRefusal } from '../platform/fs/tree-walk.ts';

/** What the system did not do: `what` is lower case and says what it was; `otherwise` is the code for what is neither space nor leave. */
export function systemRefusal(error: unknown, what: string, otherwise: PackProblem = 'install/root'): PackRefusal {
  if (!isSystemError(error)) throw error;
  return packRefusal(systemProblem(error.code) ?? otherwise, `${what} (${error.code})`);
}

/** Runs a long work: a refusal carried by `PackRefused` and what the system says are values. */
export async function orSystemRefusal<T>(
  act: () => Promise<T>,
  what: string,
  otherwise?: PackProblem,
): Promise<T | PackRefusal> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof PackRefused) return error.refusal;
    return systemRefusal(error, what, otherwise);
  }
}

/** Why a file of a person's own choice could not be written. */
export function writeRefusal(error: unknown, file: string): PackRefusal {
  if (!isSystemError(error)) throw error;
  const code = systemProblem(error.code) === 'install/no-space' ? 'install/no-space' : 'pack/unwritable';
  return packRefusal(code, `${quoted(file, 200)} cannot be written (${error.code})`, file);
}

const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/** Why a file could not be read. */
export function readRefusal(error: unknown, file: string): PackRefusal {
  if (!isSystemError(error)) throw error;
  if (GONE.has(error.code)) return packRefusal('source/missing', `${quoted(file, 200)} is not there`, file);
  return packRefusal('source/failed', `${quoted(file, 200)} cannot be read (${error.code})`, file);
}

const OF_TREES: Readonly<Record<TreeProblem, PackProblem>> = {
  gone: 'source/missing',
  changed: 'source/changed',
  unreadable: 'source/refused',
  'not-regular': 'archive/special-file',
  'link-outside': 'archive/link',
  'hard-link': 'archive/link',
  name: 'archive/name',
  'too-many': 'archive/too-many',
  'too-large': 'archive/too-large',
  'too-deep': 'archive/too-deep',
};

/** Why a folder of skills cannot be taken; `folder` is how it is called, empty where that says nothing. */
export function treeRefusal({ problem, path, message }: TreeRefusal, folder: string): PackRefusal {
  const at = [folder, path].filter((part) => part !== '').join('/');
  return packRefusal(OF_TREES[problem], folder === '' ? message : `${quoted(folder, 200)}: ${message}`, at);
}
