/** Files with one thing wrong each: what is told about it, and what is loaded all the same. */
export interface Malformed {
  readonly title: string;
  readonly text: string;
  /** `code@line:column`, in lenient mode. */
  readonly places: readonly string[];
  /** The description that loads; absent: the skill is left out. */
  readonly description?: string;
  /** Codes that `check --fix` mends. */
  readonly mends?: readonly string[];
}

/** The description of a file whose mistake is elsewhere. */
export const D = 'Fills forms.';
export const head = (...lines: readonly string[]): string => `---\n${lines.join('\n')}\n---\n# Body\n`;
export const withHead = (...lines: readonly string[]): string => head('name: pdf-forms', `description: ${D}`, ...lines);
export const describing = (...lines: readonly string[]): string => head('name: pdf-forms', ...lines);
