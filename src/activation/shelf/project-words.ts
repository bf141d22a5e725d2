/** What a project is about, as words to search skills with: its languages, what its manifests depend on, and the start of its README. */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { isObject, parseJson } from '#core';
import { isSystemError, readTextFile } from '#platform';

/** Words that descriptions of skills use for files with these extensions. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  c: 'C',
  cpp: 'C++',
  cs: 'C# .NET',
  css: 'CSS frontend',
  csv: 'CSV spreadsheet data',
  docx: 'Word document docx',
  go: 'Go golang',
  html: 'HTML web page',
  ipynb: 'Jupyter notebook Python',
  java: 'Java',
  js: 'JavaScript',
  jsx: 'React JavaScript',
  kt: 'Kotlin Android',
  md: 'Markdown',
  pdf: 'PDF',
  php: 'PHP',
  pptx: 'PowerPoint slides pptx',
  py: 'Python',
  rb: 'Ruby',
  rs: 'Rust cargo',
  sh: 'shell script',
  sql: 'SQL database',
  swift: 'Swift iOS',
  tex: 'LaTeX',
  tf: 'Terraform infrastructure',
  ts: 'TypeScript',
  tsx: 'React TypeScript',
  vue: 'Vue',
  xlsx: 'Excel spreadsheet xlsx',
  yml: 'YAML',
};

const MANIFESTS: Readonly<Record<string, string>> = {
  'Cargo.toml': 'Rust cargo',
  Dockerfile: 'Docker container',
  'build.gradle': 'Gradle Java',
  'docker-compose.yml': 'Docker compose',
  'go.mod': 'Go golang',
  'package.json': 'Node npm',
  'pom.xml': 'Maven Java',
  'pyproject.toml': 'Python',
  'requirements.txt': 'Python',
};

const MAX_FILES = 2000;
const MAX_DEPTH = 4;
const MAX_LANGUAGES = 6;
const MAX_README = 1500;
const MAX_DEPENDENCIES = 40;
const MAX_BYTES = 1_000_000;

/** Empty for a folder without any of these. */
export function projectWords(top: string): string {
  const files = listFiles(top);
  const counts = new Map<string, number>();
  for (const file of files) {
    const extension = path.extname(file).slice(1).toLowerCase();
    if (Object.hasOwn(EXTENSIONS, extension)) counts.set(extension, (counts.get(extension) ?? 0) + 1);
  }
  const languages = [...counts]
    .toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
    .slice(0, MAX_LANGUAGES)
    .flatMap(([extension]) => EXTENSIONS[extension] ?? []);
  const manifests = Object.entries(MANIFESTS).flatMap(([name, words]) => (files.includes(name) ? [words] : []));
  const readme = files.find((file) => /^readme(?:\.\w+)?$/i.test(file));
  const parts = [
    ...languages,
    ...manifests,
    ...dependencies(top),
    readme === undefined ? '' : readStart(path.join(top, readme)),
  ];
  return parts.filter((part) => part !== '').join(' ');
}

/** Relative paths, those of the top first. */
function listFiles(top: string): readonly string[] {
  const files: string[] = [];
  let folders = [''];
  for (let depth = 0; depth < MAX_DEPTH && folders.length > 0; depth += 1) {
    const next: string[] = [];
    for (const folder of folders)
      for (const entry of entriesIn(path.join(top, folder))) {
        if (files.length >= MAX_FILES) return files;
        if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
        if (entry.isFile()) files.push(path.join(folder, entry.name));
        else if (entry.isDirectory()) next.push(path.join(folder, entry.name));
      }
    folders = next;
  }
  return files;
}

function entriesIn(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
}

function dependencies(top: string): readonly string[] {
  const manifest = parseJson(readStart(path.join(top, 'package.json'), MAX_BYTES));
  const ofNode = isObject(manifest)
    ? [manifest['dependencies'], manifest['devDependencies']].flatMap((one) => (isObject(one) ? Object.keys(one) : []))
    : [];
  const ofPython = readStart(path.join(top, 'requirements.txt'), MAX_BYTES)
    .split('\n')
    .flatMap((line) => /^[A-Za-z][\w.-]*/.exec(line)?.[0] ?? []);
  return [...ofNode, ...ofPython].slice(0, MAX_DEPENDENCIES);
}

function readStart(file: string, length = MAX_README): string {
  const read = readTextFile(file, MAX_BYTES);
  return read.type === 'read' ? read.text.slice(0, length) : '';
}
