/** The npm packages that can be named. Only registries: npm itself would also take addresses, folders and aliases for a version. */
import { quoted } from '../../core/text/text.ts';
import { packRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import type { PackSource } from './source.ts';

const MAX_NAME = 214;
const PACKAGE = /^((?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*)(?:@(.+))?$/;
/** Versions, ranges and tags: nothing with a colon or a slash in it. */
const RANGE = /^[\w^~<>=*][\w.+^~<>=|* -]{0,127}$/;

/** `name`, `@scope/name`, each with or without `@range`. */
export function readNpmPackage(text: string): PackSource | PackRefusal {
  const [, name = '', range] = PACKAGE.exec(text) ?? [];
  if (name === '' || name.length > MAX_NAME || (range !== undefined && !(RANGE.test(range) && range.trim() === range)))
    return packRefusal('source/unknown', `${quoted(text, 200)} is no package of npm with or without a version`);
  return { type: 'npm', name, ...(range === undefined ? {} : { range }) };
}
