/** Grades the answer and the files of a run by its record. */
import type { EvalCase, OutputCheck } from '../cases/case.ts';
import type { SchemaVerdict } from './json-schema.ts';
import { readLinearRegex } from './linear-regex.ts';
import type { CheckResult } from '../report/result.ts';
import { compileGlob, normaliseGlob, quoted, isProblem } from '#core';
import { checked, errored, failed, listText, passed, SHOWN_CHARACTERS, type CheckHead } from './check.ts';
import type { FileFact, RunFacts } from './run-facts.ts';

/** Checker scripts are graded in `checker.ts`. */
type CodeCheck = Exclude<OutputCheck, { readonly type: 'checker' }>;

type AnswerFacts = Pick<RunFacts, 'answer' | 'answerSeq' | 'files'>;

/** Passed in, since the JSON Schema library is loaded only for cases with a schema. */
export type CheckSchema = (value: unknown, schema: unknown) => SchemaVerdict;

export function gradeOutput(
  { expect: { output = [] } }: EvalCase,
  facts: AnswerFacts,
  checkSchema: CheckSchema | undefined,
): readonly CheckResult[] {
  return output.flatMap((check, place) =>
    check.type === 'checker' ? [] : [gradeOne(check, `output[${String(place)}]`, facts, checkSchema)],
  );
}

function gradeOne(check: CodeCheck, id: string, facts: AnswerFacts, checkSchema: CheckSchema | undefined): CheckResult {
  switch (check.type) {
    case 'contains':
      return gradeContains(check, id, facts);
    case 'matches':
      return gradeMatches(check, id, facts);
    case 'json':
      return gradeJson(check, id, facts, checkSchema);
    case 'file':
      return gradeFile(check, id, facts);
  }
}

/** Whether a check without a program passes on an answer that made no files. A check that cannot be read passes on nothing. */
export function gradeAnswer(check: OutputCheck, answer: string): boolean {
  if (check.type === 'checker') return false;
  if (check.type === 'json' && check.schema !== undefined) return false;
  const facts = { answer, answerSeq: undefined, files: [] };
  return gradeOne(check, '', facts, undefined).status === 'passed';
}

type Check<Type extends CodeCheck['type']> = Extract<CodeCheck, { readonly type: Type }>;

function buildHead(id: string, asked: string): CheckHead {
  return { id, kind: 'output', asked };
}

function listEvents({ answerSeq }: AnswerFacts): readonly number[] {
  return answerSeq === undefined ? [] : [answerSeq];
}

function answerText({ answer }: AnswerFacts): string {
  return answer === '' ? 'there is no answer' : `the answer is ${quoted(answer, SHOWN_CHARACTERS)}`;
}

function gradeContains({ text, ignoreCase, not }: Check<'contains'>, id: string, facts: AnswerFacts): CheckResult {
  const head = buildHead(id, `the answer ${not === true ? 'does not contain' : 'contains'} ${quoted(text, 120)}`);
  const plain = (value: string): string => (ignoreCase === true ? value.toLowerCase() : value);
  const isThere = plain(facts.answer).includes(plain(text));
  return checked(head, isThere === (not !== true) ? '' : answerText(facts), listEvents(facts));
}

function gradeMatches({ pattern, not }: Check<'matches'>, id: string, facts: AnswerFacts): CheckResult {
  const head = buildHead(id, `the answer ${not === true ? 'does not match' : 'matches'} ${quoted(pattern, 120)}`);
  const reading = readLinearRegex(pattern);
  if (reading.type === 'refused') return errored(head, reading.message);
  const isMatch = reading.regex.test(facts.answer);
  return checked(head, isMatch === (not !== true) ? '' : answerText(facts), listEvents(facts));
}

/** Accepts JSON, also in one code fence. */
function gradeJson(
  { schema }: Check<'json'>,
  id: string,
  facts: AnswerFacts,
  checkSchema: CheckSchema | undefined,
): CheckResult {
  const head = buildHead(
    id,
    schema === undefined ? 'the answer is JSON' : 'the answer is JSON that matches the schema',
  );
  const text = facts.answer.trim();
  const [, fenced] = /^```(?:json)?[ \t]*\n(.*)\n```$/s.exec(text) ?? [];
  let value: unknown;
  try {
    value = JSON.parse(fenced ?? text);
  } catch (error) {
    if (error instanceof SyntaxError) return failed(head, answerText(facts), listEvents(facts));
    throw error;
  }
  if (schema === undefined) return passed(head, listEvents(facts));
  if (checkSchema === undefined) return errored(head, 'no JSON Schema validator is loaded');
  const verdict = checkSchema(value, schema);
  if (verdict.type === 'unusable') return errored(head, `cannot use the JSON Schema: ${verdict.message}`);
  return checked(head, verdict.type === 'fits' ? '' : verdict.message, listEvents(facts));
}

function gradeFile(check: Check<'file'>, id: string, facts: AnswerFacts): CheckResult {
  const { path, exists = true } = check;
  const head = buildHead(id, describeFileCheck(check));
  const reading = normaliseGlob(path);
  if (isProblem(reading)) return errored(head, reading.message);
  const glob = compileGlob(reading);
  const found = facts.files.filter(({ name }) => glob.matches(name));
  const events = found.map(({ seq }) => seq);
  if (!exists) return checked(head, found.length === 0 ? '' : `found ${namesText(found)}`, events);
  if (found.length === 0) return failed(head, `no such file; files: ${namesText(facts.files)}`);
  // One matching file must meet all conditions.
  const wrong = found.map((file) => fileProblem(file, check));
  if (wrong.some(({ problem }) => problem === '')) return checked(head, '', events);
  const problems = wrong.map(({ problem }) => problem).join('; ');
  return wrong.some(({ isUnknown }) => isUnknown) ? errored(head, problems, events) : failed(head, problems, events);
}

function describeFileCheck({ path, exists = true, contains, sha256, mediaType }: Check<'file'>): string {
  const expected = [
    ...(contains === undefined ? [] : [`contains ${quoted(contains, 80)}`]),
    ...(sha256 === undefined ? [] : [`has the SHA-256 ${sha256}`]),
    ...(mediaType === undefined ? [] : [`is ${mediaType}`]),
  ];
  const where = `${exists ? 'there is' : 'there is no'} file ${quoted(path, 120)}`;
  return expected.length === 0 ? where : `${where} that ${expected.join(' and ')}`;
}

/** `isUnknown`: the record does not hold the content that the check needs. */
interface FileProblem {
  readonly problem: string;
  readonly isUnknown: boolean;
}

function fileProblem(file: FileFact, { contains, sha256, mediaType }: Check<'file'>): FileProblem {
  const name = quoted(file.name, 120);
  const wrong = (problem: string, isUnknown = false): FileProblem => ({ problem: `${name} ${problem}`, isUnknown });
  if (mediaType !== undefined && !file.mediaType.startsWith(mediaType)) return wrong(`is ${file.mediaType}`);
  if (sha256 !== undefined) {
    if (file.sha256 === undefined) return wrong('was too large to hash', true);
    if (file.sha256 !== sha256.toLowerCase().replace(/^sha256:/, '')) return wrong(`has the SHA-256 ${file.sha256}`);
  }
  if (contains === undefined) return { problem: '', isUnknown: false };
  if (file.text === undefined) return wrong('has no text in the record', true);
  if (!file.text.includes(contains)) return wrong(`contains ${quoted(file.text, SHOWN_CHARACTERS)}`);
  return { problem: '', isUnknown: false };
}

function namesText(files: readonly FileFact[]): string {
  return listText(files.slice(0, 20).map(({ name }) => quoted(name, 120)));
}
