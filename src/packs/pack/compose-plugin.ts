/** Makes an Agent Plugin of skills in a temporary folder, so that it is checked and packed like any other. */
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { quoted } from '#core';
import { openPlugin } from '#skills';
import { refused } from '../problems.ts';
import { readStagedPlugin } from '../sources/skill-folders.ts';

const SCHEMA = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json';
const NOT_COPIED: ReadonlySet<string> = new Set(['.git', 'node_modules']);

export interface ComposedPlugin {
  /** To be removed when the plugin is packed. */
  readonly work: string;
  readonly unit: { readonly dir: string; readonly name: string; readonly version?: string; readonly isPlugin: true };
}

/** `typed` is `NAME` or `NAME@VERSION`. Throws a refusal. */
export function composePlugin(
  skills: readonly { readonly dir: string; readonly name: string }[],
  typed: string,
): ComposedPlugin {
  const at = typed.indexOf('@');
  const [name, version] = at === -1 ? [typed, undefined] : [typed.slice(0, at), typed.slice(at + 1)];
  const work = mkdtempSync(path.join(os.tmpdir(), 'skillwright-plugin-'));
  const dir = path.join(work, 'plugin');
  mkdirSync(path.join(dir, 'skills'), { recursive: true });
  writeFileSync(path.join(dir, 'plugin.json'), `${JSON.stringify({ $schema: SCHEMA, name, version }, undefined, 2)}\n`);
  const made = openPlugin(dir);
  if (typeof made === 'string' || version === '')
    throw refused(
      'pack/plugin',
      `--plugin ${quoted(typed, 100)}: ${typeof made === 'string' ? made : 'the version is empty'}`,
    );
  for (const skill of skills)
    cpSync(skill.dir, path.join(dir, 'skills', skill.name), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (from) => !NOT_COPIED.has(path.basename(from)),
    });
  return { work, unit: { dir, name: readStagedPlugin(dir).name, version, isPlugin: true } };
}
