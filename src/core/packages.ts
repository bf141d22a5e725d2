/** Packages that scripts need: how they are requested, and what a request was resolved to. */
import { quoted } from './text/text.ts';
import type { Problem } from './problem.ts';
export type Ecosystem = 'python' | 'node';

/** A package and the accepted versions. */
export interface PackageSpec {
  readonly ecosystem: Ecosystem;
  /** Lower case and with hyphens for Python, as written for Node. */
  readonly name: string;
  /** As the package manager reads it: `pypdf>=4`, `docx@^9`. */
  readonly text: string;
}

/** One package of a resolved environment. */
interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** `sha256:<hex>` of a wheel, or the `integrity` of an npm package. */
  readonly hash: string;
}

/** An installed environment, as programs and records refer to it. */
export interface PackageLayer {
  readonly ecosystem: Ecosystem;
  /** Identifies the request, the interpreter and the index. */
  readonly key: string;
  /** `sha256:` of the locked packages. */
  readonly lockDigest: string;
  /** Tree digest of the installed files. */
  readonly layerDigest: string;
  readonly packages: readonly LockedPackage[];
}

const MAX_TEXT = 300;
/** Without spaces, which are removed before. */
const PYTHON =
  /^([A-Za-z0-9](?:[\w.-]{0,98}[A-Za-z0-9])?)(\[[\w,.-]{0,100}\])?\(?((?:[<>=!~]={0,2}[\w.*+!-]{1,60},?){0,10})\)?$/;
const MARKER = /^[\w\s"'.<>=!()-]{1,200}$/;
const NODE = /^((?:@[a-z0-9~][\w.~-]{0,100}\/)?[a-z0-9~][\w.~-]{0,100})(?:@([\w.^~<>=|*+ -]{1,100}))?$/i;

/** Parses `pypdf`, `pypdf>=4`, `uvicorn[standard]`, `npm:docx@9`. URLs, paths and options of package managers are refused. */
export function readPackage(text: string): PackageSpec | Problem {
  const trimmed = text.trim();
  if (trimmed.length > MAX_TEXT) return notPackage(`${quoted(text)} is longer than ${String(MAX_TEXT)} characters`);
  if (trimmed.startsWith('npm:')) return readNodePackage(trimmed.slice('npm:'.length));
  return readPythonPackage(trimmed.startsWith('pip:') ? trimmed.slice('pip:'.length) : trimmed);
}

function readPythonPackage(text: string): PackageSpec | Problem {
  const [requirement = '', ...conditions] = text.length > MAX_TEXT ? [] : text.trim().split(';');
  const marker = conditions.join(';').trim();
  const [, name, extras = '', range = ''] = /\w\s+\w/.test(requirement)
    ? []
    : (PYTHON.exec(requirement.replaceAll(/\s/g, '')) ?? []);
  if (name === undefined || (marker !== '' && !MARKER.test(marker)))
    return notPackage(
      `${quoted(text)} is not a package such as pypdf, pypdf>=4 or npm:docx@9; URLs, paths and options are not accepted`,
    );
  const normal = normalName(name);
  const condition = marker === '' ? '' : ` ; ${marker}`;
  return { ecosystem: 'python', name: normal, text: `${normal}${extras}${range.replace(/,$/, '')}${condition}` };
}

function readNodePackage(text: string): PackageSpec | Problem {
  const [, name, range] = (text.length > MAX_TEXT ? null : NODE.exec(text.trim())) ?? [];
  if (name === undefined)
    return notPackage(
      `${quoted(`npm:${text}`)} is not a package such as npm:docx or npm:docx@9; URLs, paths and tags with / are not accepted`,
    );
  return { ecosystem: 'node', name, text: range === undefined ? name : `${name}@${range.trim()}` };
}

function notPackage(message: string): Problem {
  return { code: 'input/invalid', message, hint: 'name a package of the index, such as pypdf or npm:docx@9' };
}

/** Python package names ignore case and the kind of separator. */
export function normalName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, '-');
}

/** As written on the command line. */
export function packageArgument({ ecosystem, text }: Pick<PackageSpec, 'ecosystem' | 'text'>): string {
  return ecosystem === 'node' ? `npm:${text}` : text;
}
