import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

/** Pages outside `docs/`, with their path on the site. */
const OUTSIDE: Readonly<Record<string, string>> = {
  'README.md': 'index.md',
  'README.zh-CN.md': 'zh/index.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'security.md',
};

/** The path on the site of every page, by its path in the project. */
export function sitePaths(): ReadonlyMap<string, string> {
  const inside = readdirSync(path.join(PROJECT, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.md') && !file.startsWith('.'));
  return new Map([...inside.map((file) => [`docs/${file}`, file] as const), ...Object.entries(OUTSIDE)]);
}

/** The title of a page: its first heading. */
export function titleOf(page: string): string {
  const [, title = page] = /^# (.*)$/m.exec(readFileSync(path.join(PROJECT, page), 'utf8')) ?? [];
  return title.replaceAll('`', '');
}

/**
 * Where a link of a page leads on the site: to another page, or to a file of the project, which is copied. Links are written for GitHub,
 * relative to the file.
 */
export function linkTarget(
  page: string,
  href: string,
  paths: ReadonlyMap<string, string>,
): { readonly href: string; readonly file?: string } {
  if (/^(?:[a-z]+:|#|\/)/.test(href)) return { href };
  const [target = '', ...anchor] = href.split('#');
  const file = path.posix.join(path.posix.dirname(page), target);
  const section = anchor.length === 0 ? '' : `#${anchor.join('#')}`;
  const found = paths.get(file);
  if (found !== undefined) return { href: `/${found}${section}` };
  if (!existsSync(path.join(PROJECT, file))) throw new Error(`${page}: dead link ${href}`);
  return { href: `/source/${file}.txt`, file };
}

interface SidebarGroup {
  readonly text: string;
  readonly collapsed?: boolean;
  // VitePress wants an array that it may change.
  readonly items: { readonly text: string; readonly link: string }[];
}

const TUTORIALS = ['first-skill', 'own-agent', 'safe-skills', 'prove-it-helps', 'learn-from-use', 'team'];

/** Pages that are looked up rather than read. */
const REFERENCE = [
  'cli',
  'configuration',
  'api',
  'events',
  'error-codes',
  'diagnostics',
  'failures',
  'file-formats',
  'install-reference',
  'executor-suite',
  'conformance',
  'requirements',
  'benchmarks',
  'architecture',
];

/** The groups of the sidebar for a folder of pages: `docs` or `docs/zh`. A page that is in no list is a guide. */
export function sidebar(folder: string, names: readonly [string, string, string, string]): readonly SidebarGroup[] {
  const paths = sitePaths();
  const below = [...paths.keys()]
    .filter((page) => page.startsWith(`${folder}/`))
    .map((page) => page.slice(folder.length + 1, -3));
  const entry = (name: string): { text: string; link: string } => {
    const page = `${folder}/${name}.md`;
    return { text: titleOf(page), link: `/${(paths.get(page) ?? '').slice(0, -3)}` };
  };
  const here = below.filter((name) => !name.startsWith('zh/')).toSorted();
  const tutorials = TUTORIALS.filter((name) => here.includes(`tutorials/${name}`)).map((name) => `tutorials/${name}`);
  const howTo = here.filter((name) => name.startsWith('how-to/'));
  const reference = REFERENCE.filter((name) => here.includes(name));
  const listed = new Set([...tutorials, ...howTo, ...reference]);
  const guides = here.filter((name) => !listed.has(name));
  return [tutorials, howTo, guides, reference]
    .map((group, index): SidebarGroup => ({
      text: names[index] ?? '',
      items: group.map(entry),
      ...(index === 3 ? { collapsed: true } : {}),
    }))
    .filter(({ items }) => items.length > 0);
}
