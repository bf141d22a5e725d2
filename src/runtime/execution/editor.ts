import { writeFileSync } from 'node:fs';
import path from 'node:path';

import type { RunFolder, Workspace } from '#sandbox';

/**
 * Creates an editor that has already written the text, for commands such as `git commit`. Its files are in the new run folder, so that no
 * link left by a program can redirect the write.
 */
export function editorFor(
  text: string | undefined,
  { workspace, run }: { readonly workspace: Workspace; readonly run: RunFolder },
): Readonly<Record<string, string>> {
  if (text === undefined) return {};
  const folder = run.host;
  const seen = `${workspace.attached.root}/${run.path}`;
  const options = { flag: 'wx', mode: 0o644 } as const;
  writeFileSync(path.join(folder, 'editor-text.txt'), text, options);
  writeFileSync(path.join(folder, 'editor.sh'), `cat '${seen}/editor-text.txt' > "$1"\n`, options);
  // Programs run `$EDITOR file` with and without a shell, so quotes are used only if the path needs them.
  const script = `${seen}/editor.sh`;
  const editor = `sh ${/^[\w/.:@-]+$/.test(script) ? script : `'${script}'`}`;
  return { EDITOR: editor, VISUAL: editor };
}
