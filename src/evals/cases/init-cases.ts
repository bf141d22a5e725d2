/**
 * Generates first cases for a skill from its description and scripts. Their answers are generated too, so that without a model they only
 * check the harness; with a model they test it.
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { docsPage, invalidInput, quoted, sliceStart, type SkillHead } from '#core';
import { quickstartWith } from '#model';
import { quietly } from '#platform';
import { readSkill } from './suite.ts';

const MAX_NEIGHBOURS = 3;
const MAX_SCRIPTS = 5;
const RUNNABLE = /\.(?:mjs|cjs|js|py|sh|rb)$/i;

interface ReadSkill {
  readonly dir: string;
  readonly head: SkillHead;
  readonly text: string;
}

/** Returns the text of `evals/cases.yaml`. Throws if the folder has no readable skill. */
export function initCases(skillDir: string): string {
  const skill = skillAt(path.resolve(skillDir));
  if (skill === undefined)
    throw invalidInput(
      `${quoted(skillDir, 200)} has no readable SKILL.md`,
      'a skill folder',
      'name a skill folder, and validate it with skillwright check',
    );
  const parts = [HEAD, ...triggerCases(skill), ...scriptCases(skill), outcomeTemplate(skill)];
  return `${parts.join('\n').trimEnd()}\n`;
}

const HEAD = `# Cases of this skill. ${docsPage('eval-cases')} lists all keys.
#
# The mock of each case holds generated answers and is a harness check: without a model it shows that the skill loads and its
# scripts run, and it counts in no pass rate. With --model NAME the model answers instead, and the case tests it.
defaults:
  expect:
    disclosure:
      unloaded_bytes: 0
cases:`;

/** Commented out: only the author knows what a right answer contains. */
function outcomeTemplate({ head: { name } }: ReadSkill): string {
  return [
    '',
    '  # What is a right result? Only cases like this one show that the skill helps (--baseline none). Replace both texts.',
    `  # - id: ${inlineYaml(`${name}-outcome-1`)}`,
    '  #   input: "REPLACE ME: a request as a user writes it"',
    '  #   expect: { output: { contains: "REPLACE ME: a text of a right answer" } }',
  ].join('\n');
}

function triggerCases({ dir, head }: ReadSkill): readonly string[] {
  const { name } = head;
  const { expected, unwanted } = extractPhrases(head.description);
  const others = listNeighbours(dir, MAX_NEIGHBOURS);
  const quiet = [
    ...unwanted.map((input) => ({ input, distractors: [] })),
    ...others.map((other) => ({
      input: extractPhrases(other.head.description).expected[0] ?? other.head.description,
      distractors: [`../../${path.basename(other.dir)}`],
    })),
    { input: 'Thank you, that is all for today.', distractors: [] },
  ];
  return [
    '  # Requests taken from the description: each should load the skill. Add requests of real users.',
    ...expected.map((input, place) => triggerCase(`${name}-fires-${String(place + 1)}`, input, [], name)),
    '',
    '  # Requests that should not load it: excluded by its description, handled by other skills, or unrelated.',
    ...quiet.map(({ input, distractors }, place) =>
      triggerCase(`${name}-stays-quiet-${String(place + 1)}`, input, distractors),
    ),
  ];
}

const MOCK = ['    mock:', '      harness_check: true', '      turns:'] as const;

/** `skill` is the one that should load. */
function triggerCase(id: string, input: string, distractors: readonly string[], skill?: string): string {
  const isWanted = skill !== undefined;
  return [
    `  - id: ${inlineYaml(id)}`,
    `    input: ${inlineYaml(input)}`,
    ...(distractors.length === 0 ? [] : [`    skills: ${inlineYaml({ distractors })}`]),
    `    expect: ${inlineYaml({ trigger: isWanted })}`,
    `    tags: ${inlineYaml(['trigger'])}`,
    ...MOCK,
    ...(isWanted ? [turn({ toolCalls: [{ name: 'load_skill', input: { skill } }] })] : []),
    turn({ text: isWanted ? 'The skill is loaded.' : 'No skill is needed for this.' }),
  ].join('\n');
}

/** Runs the quickstart with a file of the skill, or else each script with --help. */
function scriptCases(skill: ReadSkill): readonly string[] {
  const runs = quickstartRun(skill) ?? helpRuns(skill);
  if (runs.length === 0) return [];
  const { name } = skill.head;
  return [
    '',
    '  # Scripts: the skill loads first and nothing leaves the workspace. Add checks of the answer under output.',
    ...runs.map(({ script, args, files, input }, place) =>
      [
        `  - id: ${inlineYaml(`${name}-runs-${String(place + 1)}`)}`,
        `    input: ${inlineYaml(input)}`,
        ...(files.length === 0 ? [] : [`    files: ${inlineYaml(files)}`]),
        '    approve: "yes"',
        '    expect:',
        `      skills_all_of: ${inlineYaml([name])}`,
        `      sequence: ${inlineYaml(['must_occur load_skill before run_script'])}`,
        '      security: { no_escape: true }',
        `    tags: ${inlineYaml(['script'])}`,
        ...MOCK,
        turn({ toolCalls: [{ name: 'load_skill', input: { skill: name } }] }),
        turn({ toolCalls: [{ name: 'run_script', input: { skill: name, script, args } }] }),
        turn({ text: `${script} has run.` }),
      ].join('\n'),
    ),
  ];
}

interface ScriptRun {
  /** Relative to scripts/. */
  readonly script: string;
  readonly args: readonly string[];
  readonly files: readonly string[];
  readonly input: string;
}

function quickstartRun({ dir, text: skillText, head }: ReadSkill): readonly ScriptRun[] | undefined {
  const examples = [...filesIn(dir, 'assets'), ...filesIn(dir, 'evals/files')];
  const request = `Follow the quickstart of ${head.name} with "these words".`;
  const filled = quickstartWith(skillText, { request, files: examples });
  if (filled === undefined) return undefined;
  // Files of a case are in the inputs folder of the workspace.
  const args = filled.args.map((word) => {
    const file = filled.files.find((used) => word.endsWith(used));
    return file === undefined ? word : `${word.slice(0, -file.length)}inputs/${path.posix.basename(file)}`;
  });
  return [{ script: belowScripts(filled.script), args, files: filled.files, input: request }];
}

function helpRuns({ dir, head }: ReadSkill): readonly ScriptRun[] {
  return filesIn(dir, 'scripts')
    .filter((file) => RUNNABLE.test(file))
    .slice(0, MAX_SCRIPTS)
    .map((file) => {
      const script = belowScripts(file);
      return { script, args: ['--help'], files: [], input: `How is ${script} of ${head.name} used?` };
    });
}

function belowScripts(file: string): string {
  return file.replace(/^scripts\//, '');
}

/** Paths relative to the skill, sorted. */
function filesIn(dir: string, folder: string): readonly string[] {
  return listEntries(path.join(dir, folder))
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ name }) => `${folder}/${name}`);
}

/** Skills in the same folder. */
export function listNeighbours(dir: string, most: number): readonly ReadSkill[] {
  const around = path.dirname(dir);
  return listEntries(around)
    .filter((entry) => entry.isDirectory() && entry.name !== path.basename(dir) && !entry.name.startsWith('.'))
    .flatMap(({ name }) => skillAt(path.join(around, name)) ?? [])
    .slice(0, most);
}

function skillAt(dir: string): ReadSkill | undefined {
  const read = readSkill(dir);
  return read && { dir, ...read };
}

function listEntries(folder: string) {
  return quietly(() => readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1)), []);
}

function turn(value: unknown): string {
  return `        - ${inlineYaml(value)}`;
}

/** JSON is valid YAML, and quotes untrusted text. */
export function inlineYaml(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\x7f-\x9f\u2028\u2029\uFEFF]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const MAX_PHRASES = 8;
const MIN_CHARACTERS = 2;
const MAX_CHARACTERS = 200;

const QUOTED = /"([^"\n]{2,200})"|“([^”\n]{2,200})”|「([^」\n]{2,200})」|『([^』\n]{2,200})』|`([^`\n]{2,200})`/g;
const NOT_FOR =
  /^(?:not (?:for|meant for|intended for)|(?:do not|don't|never) use (?:it |this |this skill )?(?:for|when|to|if))\s+(.+)$/i;
const USE_WHEN = /^(?:use|useful|helpful|works|apply|invoke)\b.*?\b(?:when(?:ever)?|for|if|to)\s+(.+)$/i;
const SUCH_AS = /(?:such as|e\.g\.|for example|for requests like|触发词|例如|比如|如)[:：,，]?\s*(.+)$/i;
/** Introduces the request and is not part of it. */
const ASKER =
  /^(?:(?:the |a )?users? )?(?:asks?|asked|wants?|needs?|says?|requests?|gives?|mentions?)\s+(?:(?:you|me|for|to|about|help with)\s+)*/i;
const ASKER_AT_END = /\s*(?:\b(?:or|and)\s+)?\b(?:the user )?(?:asks?|says?|mentions?|types?)\s*$/i;
const ASKER_WITHIN = /\s+and\s+(?:asks?|wants?|says?)\s+/i;

/** Extracts example requests from a skill description: those it should handle and those it excludes. */
export function extractPhrases(description: string): Readonly<Record<'expected' | 'unwanted', readonly string[]>> {
  const sentences = description
    .split(/(?<=[.!?])\s+|[。！？]|\n+/)
    .map((sentence) => sentence.replace(/[.!?]+$/, '').trim());
  const unwanted = sentences.flatMap((sentence) => splitClauses(NOT_FOR.exec(sentence)?.[1] ?? ''));
  const others = sentences.filter((sentence) => sentence !== '' && !NOT_FOR.test(sentence));
  const quoted = others.flatMap((sentence) =>
    [...sentence.matchAll(QUOTED)].map((match) => match.slice(1).find(Boolean) ?? ''),
  );
  const listed = others.flatMap((sentence) => splitClauses(SUCH_AS.exec(sentence)?.[1] ?? ''));
  // Quoted texts are requests already.
  const unquoted = others.map((sentence) => sentence.replaceAll(QUOTED, '').trim());
  const clauses = unquoted.flatMap((sentence) =>
    SUCH_AS.test(sentence) ? [] : splitClauses(USE_WHEN.exec(sentence)?.[1] ?? ''),
  );
  const expected = distinct([...quoted, ...listed, ...clauses]);
  return {
    // Without other phrases, the first sentence itself is the request.
    expected:
      expected.length > 0
        ? expected
        : distinct(others.slice(0, 1).map((sentence) => sliceStart(sentence, MAX_CHARACTERS))),
    unwanted: distinct(unwanted),
  };
}

/** Splits `a, b or c` into three clauses. */
function splitClauses(text: string): readonly string[] {
  return text
    .split(/\s*[,;，、；]\s*(?:(?:and|or)\s+)?|\s+or\s+(?=(?:the user|wants|asks|needs|an? |\S+ing\b))/)
    .map((clause) =>
      clause
        .replaceAll(/^["“「`]|["”」`]$/g, '')
        .replace(ASKER, '')
        .replace(ASKER_AT_END, '')
        .replace(ASKER_WITHIN, ': ')
        .trim(),
    );
}

function distinct(phrases: readonly string[]): readonly string[] {
  const fit = phrases.filter(({ length }) => length >= MIN_CHARACTERS && length <= MAX_CHARACTERS);
  return [...new Map(fit.map((phrase) => [phrase.toLowerCase(), phrase])).values()].slice(0, MAX_PHRASES);
}
