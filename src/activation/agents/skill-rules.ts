/** Agents read the frontmatter by different rules; a rule is a row of facts, measured with the real programs. */
import type { SkillFile } from '../skill-file.ts';
import type { SkillReading } from './agent.ts';

export interface SkillRules {
  /** Invalid YAML, such as a colon in a description: the file is ignored, or its lines are read as `key: value`. */
  readonly invalidYaml: 'reject' | 'lines';
  /** With `lines`, a quote that is not closed: the file is ignored, or it counts as a file without fields. */
  readonly openQuote?: 'reject' | 'no-fields';
  readonly withoutFrontmatter: 'reject' | 'body';
  /** A byte order mark before the frontmatter hides it. */
  readonly isMarkRejected?: boolean;
  /** Where the name comes from; `field-or-folder` uses the folder if the field is missing. */
  readonly name: 'folder' | 'field' | 'field-or-folder';
  readonly maxName?: number;
  readonly namePattern?: RegExp;
  /** A description that is missing: the file is ignored, or the first line of the body replaces it. */
  readonly withoutDescription: 'reject' | 'body';
  /** The same for one that is empty (default: as if it were missing). */
  readonly emptyDescription?: 'accept';
  /** A longer description makes the agent ignore the file. */
  readonly maxDescription?: number;
  /** Numbers and other values count as text, reject the file, or count as missing. */
  readonly otherTypes: 'text' | 'reject' | 'missing';
  /** `disable-model-invocation: true` keeps the skill from the model. */
  readonly hidesManual?: boolean;
  /** A skill with `paths` is listed only after a matching file was touched. */
  readonly hidesPaths?: boolean;
}

export function readByRules(file: SkillFile, rules: SkillRules): SkillReading {
  const rejected = (reason: string, fix: string): SkillReading => ({ type: 'rejected', reason, fix });
  if (file.problem !== undefined) return rejected(`SKILL.md cannot be read: ${file.problem}`, 'allow reading it');
  if (file.hasByteOrderMark && rules.isMarkRejected === true)
    return rejected('a byte order mark stands before the frontmatter', 'save SKILL.md as UTF-8 without a mark');
  if (!file.hasFrontmatter && rules.withoutFrontmatter === 'reject')
    return rejected('SKILL.md has no frontmatter', 'run skillwright check --fix');
  const fields = usedFields(file, rules);
  if (fields === undefined)
    return rejected('the frontmatter is not valid YAML', 'quote the description, or run skillwright check --fix');
  const [name, description] = [fields['name'], fields['description']].map((value) => asText(value, rules.otherTypes));
  if (name === null || description === null) return rejected('name or description is not text', 'put it in quotes');
  const called = rules.name === 'folder' ? file.folder : name?.trim() || (rules.name === 'field' ? '' : file.folder);
  const refusal = checkName(called, rules);
  if (refusal !== undefined) return refusal;
  if (rules.hidesManual === true && /^true$/i.test(String(fields['disable-model-invocation'])))
    return { type: 'hidden', name: called, reason: 'disable-model-invocation is true' };
  if (rules.hidesPaths === true && fields['paths'] !== undefined)
    return { type: 'hidden', name: called, reason: 'it has paths: it is listed once a matching file was used' };
  const isMissing = description === undefined || (description.trim() === '' && rules.emptyDescription === undefined);
  if (isMissing && rules.withoutDescription === 'reject')
    return rejected('the description is missing', 'add a description to the frontmatter');
  const text = isMissing ? file.bodyStart : description;
  if (rules.maxDescription !== undefined && text.length > rules.maxDescription)
    return rejected(
      `the description has ${String(text.length)} characters, the limit is ${String(rules.maxDescription)}`,
      'shorten the description',
    );
  return { type: 'skill', name: called, description: text };
}

function checkName(name: string, { maxName, namePattern }: SkillRules): SkillReading | undefined {
  if (name === '') return { type: 'rejected', reason: 'the name is missing', fix: 'add a name to the frontmatter' };
  if (maxName !== undefined && name.length > maxName)
    return {
      type: 'rejected',
      reason: `the name has ${String(name.length)} characters, the limit is ${String(maxName)}`,
      fix: 'shorten the name',
    };
  return namePattern === undefined || namePattern.test(name)
    ? undefined
    : { type: 'rejected', reason: 'the name has characters that are not allowed', fix: 'use a-z, 0-9 and hyphens' };
}

function usedFields(file: SkillFile, rules: SkillRules): Readonly<Record<string, unknown>> | undefined {
  if (file.fields !== undefined) return file.fields;
  if (rules.invalidYaml === 'reject') return undefined;
  const isOpen = Object.values(file.lines).some((value) => /^(["'])(?!.*\1\s*$)/.test(value));
  if (!isOpen || rules.openQuote === undefined) return file.lines;
  return rules.openQuote === 'reject' ? undefined : {};
}

/** Null: the value makes the agent ignore the file. */
function asText(value: unknown, otherTypes: SkillRules['otherTypes']): string | undefined | null {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  if (otherTypes === 'missing') return undefined;
  return otherTypes === 'text' && (typeof value === 'number' || typeof value === 'boolean') ? String(value) : null;
}
