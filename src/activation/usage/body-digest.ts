import { sha256 } from '#platform';

const FRONTMATTER = /^\uFEFF?---[ \t]*\r?\n[\s\S]*?\n---[ \t]*(?:\r?\n|$)/;
const LENGTH = 12;

/** Names a version of a skill by its instructions. Agents pass them to the model with or without the frontmatter and the blank ends. */
export function bodyDigest(text: string): string {
  return sha256(text.replace(FRONTMATTER, '').replaceAll('\r\n', '\n').trim()).slice(0, LENGTH);
}
