/** The index of a source to browse: what its skills are, without their files. Everything in it was written by the source. */
import { isObject, isValidName, parseJson, sliceStart } from '#core';

/** A skill of a source. Not installed, not validated beyond its name. */
export interface AvailableSkill {
  readonly name: string;
  /** Untrusted text; make it `printable` before you show it. */
  readonly description: string;
  /** The folder in the source; absent for sites. */
  readonly path?: string;
  /** `sha256-tree:<hex>` of the files; for sites `sha256:<hex>` of the published file, if the site promises one. */
  readonly digest?: string;
}

export interface SourceIndex {
  /** The user's name for the source. */
  readonly name: string;
  /** Canonical text for `install`, without credentials. */
  readonly source: string;
  /** ISO time of the last update. */
  readonly at: string;
  /** The commit or version that was indexed; absent if the source has none. */
  readonly revision?: string;
  /** Sorted by name. */
  readonly skills: readonly AvailableSkill[];
}

const SCHEMA = 1;
export const MAX_INDEX_BYTES = 32 * 1024 * 1024;
export const MAX_AVAILABLE = 20_000;
/** Longer descriptions are cut; the specification allows 1,024 characters. */
const MAX_DESCRIPTION = 2_000;

export function availableSkill({ description, ...skill }: AvailableSkill): AvailableSkill {
  return { ...skill, description: sliceStart(description, MAX_DESCRIPTION) };
}

export function sourceIndexText(index: SourceIndex): string {
  return `${JSON.stringify({ schema: SCHEMA, ...index }, undefined, 1)}\n`;
}

/** Validates the text of an index file; `undefined` if it is damaged or of another version. */
export function readSourceIndex(text: string): SourceIndex | undefined {
  const value = parseJson(text);
  if (!isObject(value) || value['schema'] !== SCHEMA) return undefined;
  const { name, source, at, revision, skills } = value;
  if (!isText(name) || !isText(source) || !isText(at) || !Array.isArray(skills)) return undefined;
  if (revision !== undefined && !isText(revision)) return undefined;
  const read = skills.map(readSkill);
  const whole = read.filter((skill) => skill !== undefined);
  if (whole.length !== read.length) return undefined;
  return { name, source, at, revision, skills: whole };
}

function readSkill(value: unknown): AvailableSkill | undefined {
  if (!isObject(value)) return undefined;
  const { name, description, path, digest } = value;
  if (!isText(name) || !isValidName(name) || !isText(description)) return undefined;
  if ((path !== undefined && !isText(path)) || (digest !== undefined && !isText(digest))) return undefined;
  return availableSkill({
    name,
    description,
    path,
    digest,
  });
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
