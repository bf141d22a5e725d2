import type { PackRefusal } from '../problems.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import type { Extracted } from './opened-archive.ts';
import { openTreeWriter, writingRefusal } from './tree-writer.ts';
import type { TreeWriter } from './tree-writer.ts';

/** Runs `write` on a folder that is empty or not there; where it throws, the folder is as it was before. */
export async function extractTree(
  to: string,
  write: (tree: TreeWriter) => Promise<Omit<Extracted, 'type'>>,
): Promise<Extracted | PackRefusal> {
  let tree: TreeWriter;
  try {
    tree = openTreeWriter(to);
  } catch (error) {
    return writingRefusal(error, to);
  }
  try {
    const written = await write(tree);
    return { type: 'extracted', ...written };
  } catch (error) {
    const left = await undone(tree);
    const refusal = writingRefusal(error, to);
    return left === undefined
      ? refusal
      : { ...refusal, message: `${refusal.message}; its parts are still there: ${left}` };
  } finally {
    tree.close();
  }
}

/** What the system said where the parts cannot be removed. */
async function undone(tree: TreeWriter): Promise<string | undefined> {
  try {
    await tree.undo();
    return undefined;
  } catch (error) {
    if (isSystemError(error)) return error.code;
    throw error;
  }
}
