import type { Diagnostic, Mode } from '../../src/core/diagnostic.ts';
import type { HeadReading, HeadSource } from '../../src/skills/format/simple-head.ts';
import { readHead } from '../../src/skills/format/read-head.ts';

/** A SKILL.md in a folder called `pdf-forms`, unless said otherwise. */
export function sourceOf(text: string, rest: Partial<HeadSource> = {}): HeadSource {
  return {
    path: 'skills/pdf-forms/SKILL.md',
    directory: 'pdf-forms',
    fileName: 'SKILL.md',
    text,
    validUtf8: true,
    ...rest,
  };
}

/** The file with these lines between its fences. */
export function fenced(...lines: readonly string[]): string {
  return `---\n${lines.join('\n')}\n---\n# Body\n`;
}

export function read(text: string, mode: Mode = 'lenient', rest: Partial<HeadSource> = {}): HeadReading {
  return readHead(sourceOf(text, rest), { mode });
}

export function codesOf({ diagnostics }: { readonly diagnostics: readonly Diagnostic[] }): readonly string[] {
  return diagnostics.map((each) => each.code);
}

/** `code@line:column`, which is what most cases are about. */
export function placesOf({ diagnostics }: { readonly diagnostics: readonly Diagnostic[] }): readonly string[] {
  return diagnostics.map((each) => `${each.code}@${each.line}:${each.column}`);
}
