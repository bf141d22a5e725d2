/** Package URLs (purl) for sources that have one: npm, and git. */
import type { PackSource } from '../sources/source.ts';

export interface SourcedSkill {
  readonly name: string;
  readonly version?: string;
  readonly source?: PackSource;
  readonly revision?: string;
}

/** Forges with a type of their own. */
const FORGES: ReadonlyMap<string, string> = new Map([
  ['github.com', 'github'],
  ['bitbucket.org', 'bitbucket'],
]);

/** Nothing for folders, archives and addresses: nobody else could find the skill by what is known of them. */
export function packageUrl({ name, version, source, revision }: SourcedSkill): string | undefined {
  if (source?.type === 'npm') {
    const at = revision ?? version;
    return `pkg:npm/${source.name.split('/').map(encoded).join('/')}${at === undefined ? '' : `@${encoded(at)}`}`;
  }
  if (source?.type !== 'git' || revision === undefined) return undefined;
  const place = placeOf(source.url);
  const folder =
    source.folder === undefined || source.folder === '' ? '' : `#${source.folder.split('/').map(encoded).join('/')}`;
  const type = place === undefined ? undefined : FORGES.get(place.host);
  if (place !== undefined && type !== undefined)
    return `pkg:${type}/${place.path.toLowerCase().split('/').map(encoded).join('/')}@${encoded(revision)}${folder}`;
  if (place === undefined) return undefined;
  const address = `git+https://${place.host}/${place.path}@${revision}`;
  return `pkg:generic/${encoded(name)}${version === undefined ? '' : `@${encoded(version)}`}?vcs_url=${encoded(address)}${folder}`;
}

/** `https://host/owner/name.git`, `ssh://git@host/…`, `git@host:owner/name`; without who logs in. Nothing for what lies on this machine. */
function placeOf(url: string): { readonly host: string; readonly path: string } | undefined {
  const [, host, path] =
    /^(?:git\+)?(?:https?|ssh|git):\/\/(?:[^/@]*@)?([^/:]+)(?::\d+)?\/(.+?)(?:\.git)?\/?$/.exec(url) ??
    /^[\w.-]+@([\w.-]+):(?!\/)(.+?)(?:\.git)?\/?$/.exec(url) ??
    [];
  return host === undefined || path === undefined ? undefined : { host: host.toLowerCase(), path };
}

function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll('%3A', ':');
}
