import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

/** A file by its text or bytes, a program, an empty folder, or a link. */
type Planted = string | Buffer | { readonly program: string } | { readonly folder: true } | { readonly link: string };

export type Tree = Readonly<Record<string, Planted>>;

/** Every kind of file that a skill may hold. */
export const EVERY_KIND: Tree = {
  'SKILL.md': '---\nname: every-kind\ndescription: Has every kind of file.\n---\n\n# Body\n',
  'scripts/run.sh': { program: '#!/bin/sh\necho hello\n' },
  'assets/logo.png': Buffer.from(Array.from({ length: 4096 }, (_, place) => place % 256)),
  'references/数据-é-é.md': 'two spellings of one letter\n',
  'empty.txt': '',
  '.hidden/.dot': 'dot\n',
  'tests/fixtures': { folder: true },
  'latest.md': { link: 'references/数据-é-é.md' },
  'docs/up': { link: '../assets' },
  'a b\n"c"': 'an odd name',
};

export function plant(root: string, tree: Tree): string {
  mkdirSync(root, { recursive: true });
  for (const [name, planted] of Object.entries(tree)) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    if (typeof planted === 'string' || Buffer.isBuffer(planted)) writeFileSync(file, planted);
    else if ('program' in planted) {
      writeFileSync(file, planted.program);
      chmodSync(file, 0o755);
    } else if ('folder' in planted) mkdirSync(file, { recursive: true });
    else symlinkSync(planted.link, file);
  }
  return root;
}

/** All that lies below a folder: `name: x? bytes in hex`, the target of links, nothing for folders. */
export function harvest(root: string, prefix = ''): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(path.join(root, prefix)).toSorted()) {
    const at = path.posix.join(prefix, name);
    const stats = lstatSync(path.join(root, at));
    if (stats.isDirectory()) Object.assign(found, { [`${at}/`]: '' }, harvest(root, at));
    else if (stats.isSymbolicLink()) found[at] = `-> ${readlinkSync(path.join(root, at))}`;
    else found[at] = `${(stats.mode & 0o111) === 0 ? '' : 'x '}${readFileSync(path.join(root, at)).toString('base64')}`;
  }
  return found;
}
