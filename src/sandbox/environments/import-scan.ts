/**
 * Finds the third-party modules that a script imports, without running it. Follows modules of the skill itself. The result only
 * suggests packages: it decides nothing that a person has not confirmed.
 */
import { builtinModules } from 'node:module';

import type { ConfinedDirectory } from '#platform';
import { STANDARD_MODULES } from './import-names.ts';
import { readSkillText } from './skill-text.ts';

export interface ImportedModules {
  /** Top-level names, in the order of their first import. */
  readonly python: readonly string[];
  /** Package names, such as `docx` and `@scope/name`. */
  readonly node: readonly string[];
}

const MAX_FILES = 200;

/** Scans a script, relative to the folder of the skill. */
export function importedModules(directory: ConfinedDirectory, script: string): ImportedModules {
  const python = new Set<string>();
  const node = new Set<string>();
  const seen = new Set<string>();
  const waiting = [script];
  const files = new Set(directory.list({ maxFiles: 5_000, maxDepth: 8 }).files.map(({ path }) => path));
  while (waiting.length > 0 && seen.size < MAX_FILES) {
    const file = waiting.shift() ?? '';
    if (seen.has(file)) continue;
    seen.add(file);
    const text = readSkillText(directory, file) ?? '';
    if (/\.[cm]?[jt]sx?$/.test(file)) {
      for (const specifier of nodeImports(text)) {
        const local = localScript(file, specifier, files);
        if (local !== undefined) waiting.push(local);
        const name = packageName(specifier);
        if (name !== undefined) node.add(name);
      }
    } else if (file.endsWith('.py') || /^#!.*\bpython/.test(text)) {
      for (const module of pythonImports(text)) {
        const local = localModules(file, module, files);
        waiting.push(...local);
        const [top = ''] = module.split('.');
        if (local.length === 0 && top !== '' && !STANDARD_MODULES.has(top)) python.add(top);
      }
    }
  }
  return { python: [...python], node: [...node] };
}

/** The modules that a Python text imports, `a.b` for `import a.b`, `.x` for a relative import. Text in strings and comments is ignored. */
function pythonImports(text: string): readonly string[] {
  const code = text.replaceAll(/("""|''')[\s\S]*?(?:\1|$)/g, '""').replaceAll(/\\\r?\n/g, ' ');
  const found = new Set<string>();
  for (const line of code.split(/\r?\n|;/)) {
    const [, from, names] =
      /^\s*(?:from\s+(\.*[\w.]*)\s+import\b|import\s+([\w.]+(?:\s+as\s+\w+)?(?:\s*,\s*[\w.]+(?:\s+as\s+\w+)?)*))/.exec(
        line,
      ) ?? [];
    if (from !== undefined) found.add(from);
    for (const name of names?.split(',') ?? []) found.add(name.trim().split(/\s/)[0] ?? '');
  }
  return [...found];
}

/** The files of the skill that an import means: in the folder of the importing file, in the skill, or in its usual source folders. */
function localModules(file: string, module: string, files: ReadonlySet<string>): readonly string[] {
  const dots = /^\.*/.exec(module)?.[0].length ?? 0;
  const own = file.split('/').slice(0, -1);
  const name = module.slice(dots).replaceAll('.', '/');
  const bases =
    dots > 0
      ? [own.slice(0, own.length - dots + 1)]
      : [...own.keys(), own.length].map((length) => own.slice(0, length)).concat([['scripts'], ['src'], ['lib']]);
  return bases.flatMap((base) => {
    const path = [...base, ...(name === '' ? [] : [name])].join('/');
    const [top = ''] = name.split('/');
    const topPath = [...base, ...(top === '' ? [] : [top])].join('/');
    const exact = [`${path}.py`, `${path}/__init__.py`].filter((candidate) => files.has(candidate));
    if (exact.length > 0) return exact;
    // A folder without __init__.py is a namespace package, and `from package import module` may mean a file in it.
    const inside = [...files].filter((candidate) => candidate.startsWith(`${topPath}/`) && candidate.endsWith('.py'));
    return [`${topPath}.py`, `${topPath}/__init__.py`].filter((candidate) => files.has(candidate)).concat(inside);
  });
}

/** Spaces are bounded, because unbounded ones take quadratic time on a text of line feeds. */
const NODE_IMPORT =
  /(?<![.\w$])(?:from\s{0,20}|import\s{0,20}\(?\s{0,20}|require\s{0,20}\(\s{0,20})(["'])([^"'\n]{1,200})\1/g;

function nodeImports(text: string): readonly string[] {
  const code = text.replaceAll(/\/\*[\s\S]*?(?:\*\/|$)/g, '').replaceAll(/^[ \t]*\/\/.*$/gm, '');
  return [...new Set([...code.matchAll(NODE_IMPORT)].map(([, , specifier = '']) => specifier))];
}

const BUILT_IN: ReadonlySet<string> = new Set(builtinModules);

function packageName(specifier: string): string | undefined {
  if (/^(?:[./#]|[a-z]+:)/.test(specifier)) return undefined;
  const parts = specifier.split('/');
  const name = specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? '');
  return BUILT_IN.has(name) || !/^(?:@[\w.-]+\/)?[\w.-]+$/.test(name) ? undefined : name;
}

function localScript(file: string, specifier: string, files: ReadonlySet<string>): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  const parts = file.split('/').slice(0, -1);
  for (const part of specifier.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  const path = parts.join('/');
  const endings = ['', '.js', '.mjs', '.cjs', '.ts', '.mts', '/index.js', '/index.ts'];
  return endings.map((ending) => `${path}${ending}`).find((candidate) => files.has(candidate));
}
