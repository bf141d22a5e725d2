import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { IndexedSkill } from '../../../src/skills/loader/load-body.ts';
import { scratch, writeSkill, type SkillText } from '../registry/support.ts';

/** A skill as the index knows it, with files of the given text. */
export function makeSkill(
  files: Readonly<Record<string, string | Buffer>> = {},
  text: SkillText = {},
  dir = path.join(scratch(), 'demo'),
): IndexedSkill {
  const written = writeSkill(dir, text);
  const head = /^---\n[^]*?\n---\n/.exec(readFileSync(written, 'utf8'))?.[0] ?? '';
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    writeFileSync(path.join(dir, name), content);
  }
  return { dir, name: path.basename(dir), file: path.basename(written), digest: digestOf(head) };
}

export function digestOf(content: string | Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
