/**
 * The names under which the skills of one server are used. They follow from all URIs of a listing at once, and from nothing else: an entry
 * that cannot be used keeps its name, so that no other skill answers to it.
 */
import { sha256 } from '#platform';

const MAX_NAME = 64;

/** `names` are taken already. Equal names are told apart by the folders before them, and at last by their URIs. */
export function nameSkills(
  uris: readonly string[],
  taken: ReadonlySet<string> = new Set(),
): ReadonlyMap<string, string> {
  const all = [...new Set(uris)].toSorted();
  const short = groupBy(all, (uri) => tail(uri, 1));
  const names = new Map<string, string>();
  for (const [name, same] of short) {
    const depth = same.length === 1 ? 1 : distinctDepth(same);
    for (const uri of same) names.set(uri, depth === 1 ? name : tail(uri, depth));
  }
  const used = groupBy(all, (uri) => names.get(uri) ?? '');
  for (const [name, same] of used)
    if (same.length > 1 || taken.has(name) || name === '')
      for (const uri of same)
        names.set(uri, `${name.slice(0, MAX_NAME - 9)}-${sha256(uri).slice(0, 8)}`.replace(/^-/, ''));
  return names;
}

function groupBy(uris: readonly string[], key: (uri: string) => string): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const uri of uris) {
    const name = key(uri);
    groups.set(name, [...(groups.get(name) ?? []), uri]);
  }
  return groups;
}

/** How many of the last folders tell the URIs apart; 1 if none do. */
function distinctDepth(uris: readonly string[]): number {
  const deepest = Math.max(...uris.map((uri) => folders(uri).length));
  for (let depth = 2; depth <= deepest; depth += 1)
    if (new Set(uris.map((uri) => tail(uri, depth))).size === uris.length) return depth;
  return 1;
}

function tail(uri: string, depth: number): string {
  return folders(uri).slice(-depth).join('-').slice(-MAX_NAME).replace(/^-+/, '');
}

/** The folders of `scheme://a/b/name/SKILL.md` as parts of a name. */
function folders(uri: string): readonly string[] {
  return uri
    .replace(/\/[^/]*$/, '')
    .split(/[/:]+/)
    .slice(1)
    .map((part) =>
      part
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, '-')
        .replaceAll(/^-+|-+$/g, ''),
    )
    .filter((part) => part !== '');
}
