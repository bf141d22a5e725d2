import path from 'node:path';

import { SkillError } from '../../core/errors.ts';
import { toRelativePath } from '../../core/path.ts';
import { writeFileAtomically } from '../../platform/fs/atomic-replace.ts';
import { openConfined } from '../../platform/fs/confined-directory.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import type { Session } from '../session.ts';
import { makeFolders } from '../../platform/fs/make-folders.ts';

const MAX_FILES = 10_000;
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Copies the files in `out/` to a host folder and returns the written paths. Skips links and special files. */
export async function takeOutputs({ execution }: Session, folder: string): Promise<readonly string[]> {
  const workspace = await execution?.openWorkspace();
  if (workspace === undefined) return [];
  const opening = openConfined(path.join(workspace.place.root, 'out'));
  if (opening.type === 'failed') return [];
  const { directory } = opening;
  const written: string[] = [];
  try {
    for (const { path: name, type } of directory.list({ maxFiles: MAX_FILES, maxDepth: 32 }).files) {
      const relative = toRelativePath(name);
      if (type !== 'file' || relative.type === 'refused') continue;
      const file = directory.read(relative.path, { maxBytes: MAX_FILE_BYTES });
      if (file.type === 'failed') continue;
      const target = path.join(folder, name);
      makeFolders(path.dirname(target));
      writeFileAtomically(target, file.bytes, { mode: file.isExecutable ? 0o755 : 0o644 });
      written.push(target);
    }
    return written;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new SkillError({
      code: 'io/failed',
      message: `the files cannot be written to ${JSON.stringify(folder)}: ${error.code}`,
      hint: 'choose another folder',
      data: { path: folder, cause: error.code },
    });
  } finally {
    directory.close();
  }
}
