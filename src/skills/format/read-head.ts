/** Reads any frontmatter: the plain reader, then the YAML library, then a rescue field by field. Imports `yaml`. */
import { isTooLarge } from './checks.ts';
import { findFences, type Fences } from './fences.ts';
import type { RestrictingField } from './fields.ts';
import { missingFrontmatter } from './missing.ts';
import { MAX_LIBRARY_TEXT, findSecondDocument, findTooDeep } from './guard.ts';
import { addDiagnostic, STRICTEST, type Problem, type Report } from './report.ts';
import { rescueFields, reportLoose } from './rescue.ts';
import { findLineRestrictions } from './restrictions.ts';
import type { HeadOptions, HeadReading, HeadSource } from './source.ts';
import { readYaml, type YamlReading } from './yaml.ts';
import { finishHead, openReport, readSimpleHead, rejectHead } from './simple-head.ts';
import { quoted } from '#core';

const NONE: ReadonlySet<RestrictingField> = new Set();

/** Reads the head of any file, however broken. It never throws; diagnostics describe everything that was repaired or ignored. */
export function readHead(source: HeadSource, options: HeadOptions): HeadReading {
  return readSimpleHead(source, options) ?? readHeadAsYaml(source, options);
}

/** `readHead` for frontmatter that `readSimpleHead` has already rejected. */
export function readHeadAsYaml(source: HeadSource, options: HeadOptions): HeadReading {
  const { text } = source;
  const found = findFences(text);
  if (found.type !== 'found') return rejectHead(source, openReport(source, options), missingFrontmatter(text, found));
  const { fences } = found;
  const report = openReport(source, options, fences);
  const fatal = (problem: Problem): HeadReading => rejectHead(source, report, problem);
  if (isTooLarge(text, fences.end)) return fatal(tooLarge(fences.open));
  const language = fences.openRest.trim();
  if (language !== '' && !/^(?:ya?ml|#.*)$/i.test(language)) {
    const message = `the frontmatter is marked ${quoted(language)}, expected YAML`;
    return fatal({
      code: 'frontmatter/missing',
      at: fences.open + 3,
      message,
      hint: 'write --- alone on its line and the fields in YAML',
    });
  }
  return readFields({ source, options, report, fences, fatal });
}

interface FieldsInput {
  readonly source: HeadSource;
  readonly options: HeadOptions;
  readonly report: Report;
  readonly fences: Fences;
  readonly fatal: (problem: Problem) => HeadReading;
}

function readFields({ source, options, report, fences, fatal }: FieldsInput): HeadReading {
  const { start, end, unread, isWhole } = firstDocument(report, fences);
  const deep = findTooDeep(report.text, start, end);
  const isLibrary = deep === undefined && isWhole && end - start <= MAX_LIBRARY_TEXT;
  const reading: YamlReading = isLibrary
    ? readYaml(report.text, start, end)
    : { type: 'broken', at: start, message: '' };
  const finish = { source, options, report, fences };
  switch (reading.type) {
    case 'map':
      reportLoose(report, reading.loose);
      return finishHead({ ...finish, map: reading.map, unreadable: unread });
    case 'refused':
      return fatal(refused(reading));
    case 'empty':
      return fatal({
        code: 'frontmatter/empty',
        at: fences.start,
        message: 'the frontmatter has no fields',
      });
    case 'other':
      return fatal(notFields(fences.start));
    case 'broken':
      break;
  }
  if (deep !== undefined)
    addDiagnostic(report, {
      code: 'frontmatter/too-deep',
      at: deep,
      message: 'nested too deep, expected at most 16 levels',
    });
  const reported = report.diagnostics.length;
  const rescue = rescueFields(report, readYaml, { text: withoutTabs(report, start, end), start, end });
  if (rescue === undefined) return fatal(notFields(fences.start));
  if (rescue.refusal !== undefined) return fatal(refused(rescue.refusal));
  if (isLibrary && report.diagnostics.length === reported) {
    addDiagnostic(report, {
      code: 'frontmatter/invalid-yaml',
      at: reading.at,
      message: `not YAML: ${quoted(reading.message, 100)}`,
    });
  }
  return finishHead({ ...finish, map: rescue.map, unreadable: new Set([...rescue.unreadable, ...unread]) });
}

/** Without the `m` flag, which treats a lone CR and U+2028 as line ends too. */
const TAB_INDENT = /(?<=^|\n)[ \t]*\t[ \t]*/g;
const INDENT = /(?<=\n)[ \t]+/g;

/** Replaces every tab in indentation by one space, so that offsets stay the same. YAML does not allow tabs there. */
function withoutTabs(report: Report, start: number, end: number): string {
  const { text } = report;
  const inner = text.slice(start, end);
  if (!inner.includes('\t')) return text;
  let first = -1;
  let last = -1;
  const spaced = inner.replaceAll(TAB_INDENT, (indent, offset: number) => {
    // A tab on an otherwise blank line is not indentation.
    if (/[^\r\n]/.test(inner.charAt(offset + indent.length))) {
      if (first === -1) first = offset;
      last = offset + indent.length;
    }
    return ' '.repeat(indent.length);
  });
  if (first !== -1) {
    const repaired = `\n${inner.slice(first, last)}`
      .replaceAll(INDENT, (indent) => indent.replaceAll('\t', '  '))
      .slice(1);
    addDiagnostic(report, {
      code: 'frontmatter/tab',
      at: start + inner.indexOf('\t', first),
      message: 'a tab indents this line, expected spaces',
      edit: { offset: start + first, length: last - first, text: repaired },
    });
  }
  return text.slice(0, start) + spaced + text.slice(end);
}

interface FirstDocument {
  readonly start: number;
  readonly end: number;
  /** Restrictions in later documents, which are otherwise ignored. */
  readonly unread: ReadonlySet<RestrictingField>;
  /** The text contains no other document. */
  readonly isWhole: boolean;
}

function firstDocument(report: Report, { start, close }: Fences): FirstDocument {
  const { text } = report;
  const second = findSecondDocument(text, start, close);
  if (second === undefined) return { start, end: close, unread: NONE, isWhole: true };
  addDiagnostic(report, {
    code: 'frontmatter/multi-document',
    at: second,
    message: 'another YAML document starts here',
    instead: 'it is ignored',
  });
  if (second === start) return { start: text.indexOf('\n', start) + 1, end: close, unread: NONE, isWhole: false };
  const unread = new Set<RestrictingField>();
  for (const { field, at } of findLineRestrictions(text, second, close)) {
    if (!unread.has(field)) {
      const message = `${field} is in another YAML document`;
      addDiagnostic(report, { code: 'field/unreadable-restriction', at, message, instead: STRICTEST });
    }
    unread.add(field);
  }
  return { start, end: second, unread, isWhole: false };
}

function tooLarge(at: number): Problem {
  return { code: 'frontmatter/too-large', at, message: 'the frontmatter has more than 64 KiB' };
}

function notFields(at: number): Problem {
  return { code: 'frontmatter/not-fields', at, message: 'the text between the --- lines is not a list of fields' };
}

function refused({ code, at, what }: Extract<YamlReading, { type: 'refused' }>): Problem {
  const kind =
    code === 'frontmatter/tag' ? 'the YAML tag' : what === '<<' ? 'the YAML merge key' : 'the YAML anchor or alias';
  return { code, at, message: `${kind} ${quoted(what)} is refused` };
}
