import path from 'node:path';

import { isInside, readTextFile } from '#platform';

const MAX_BYTES = 1024 * 1024;
/** Settings whose values git runs, or reads further settings from. */
const KEYS =
  /^(?:hookspath|fsmonitor|sshcommand|gitproxy|askpass|pager|editor|attributesfile|path|clean|smudge|process|driver|textconv|command|external|cmd|helper|program|difffilter)$/i;

/** Files and folders beside a repository that its own settings make git run or obey, as absolute paths. They need not exist. */
export function programsOfGit(repository: string, source: string): readonly string[] {
  const folder = path.join(repository, '.git');
  return ['config', 'config.worktree'].flatMap((name) => {
    const read = readTextFile(path.join(folder, name), MAX_BYTES);
    if (read.type !== 'read') return [];
    return listWords(read.text)
      .flatMap((word) => [path.resolve(repository, word), path.resolve(folder, word)])
      .filter((file) => isInside(file, source) && !isInside(repository, file) && !isInside(file, folder));
  });
}

function listWords(text: string): readonly string[] {
  let section = '';
  return text.split('\n').flatMap((line) => {
    const [, head, rest = ''] = /^\s*\[\s*([\w.-]+)[^\]]*\](.*)$/.exec(line) ?? [];
    section = head?.toLowerCase() ?? section;
    const [, key = '', value = ''] = /^\s*([\w-]+)\s*=\s*(.*)$/.exec(head === undefined ? line : rest) ?? [];
    const isRun = section === 'alias' || (section !== 'submodule' && KEYS.test(key));
    return isRun ? value.split(/[\s"'!;&|()<>$`]+/).filter((word) => word !== '') : [];
  });
}
