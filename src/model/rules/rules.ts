/**
 * A model without a language model: it searches, loads the best skill, runs its quickstart and shows the result. A demonstration and a
 * driver for tests, without network and memory; its behavior depends on the request alone.
 */
import { completeAnswer, emitWhole } from '../emit.ts';
import {
  answerInput,
  buildCall,
  listChoices,
  loadInput,
  offeredTools,
  findRole,
  runInput,
  searchInput,
  skillOfLoad,
  type Role,
  type RuleDecision,
} from './rule-tools.ts';
import {
  isObject,
  sliceStart,
  toRelativePath,
  type Model,
  type ModelAnswer,
  type ModelRequest,
  type ModelTool,
  type ModelToolCall,
  type Plan,
  isProblem,
} from '#core';
import { fillQuickstart, findQuickstart, type QuickstartReading } from './quickstart.ts';
import { scoreSkills, type ScoredSkill } from './rule-score.ts';
import { cannotRun, couldNotLoad, noQuickstart, noSkillFits, ranText, somethingMissing } from './rule-words.ts';
import { loadedIn, readJson, skillsInCatalog, skillsInResult, textsIn, withoutSkillTexts } from './seen-skills.ts';

type ModelMessage = ModelRequest['messages'][number];

export { RULE_MODEL_REMARK } from './rule-words.ts';

/** Opens the rule model, which follows the quickstart of a skill and is not a language model. */
export function openRules(): Model {
  return {
    id: 'rules',
    answerSchemas: 'shown',
    takesImages: false,
    call(request, { signal, onDelta }) {
      if (signal.aborted) return Promise.reject(signal.reason);
      const answer = written(request, decideByRules(request));
      emitWhole(answer, onDelta);
      return Promise.resolve(answer);
    },
  };
}

/** Encodes the decision in the protocol of the request: a tool call, or the JSON of an action. */
function written(request: ModelRequest, decision: RuleDecision): ModelAnswer {
  const turn = request.messages.filter(({ role }) => role === 'assistant').length + 1;
  if (request.tools.length > 0) {
    const ending = decision.type === 'answer' ? endingCall(request.tools, decision.text) : decision;
    if (ending?.type !== 'call') return completeAnswer(decision.type === 'answer' ? decision.text : '');
    return completeAnswer('', [{ id: `rule-${String(turn)}`, name: ending.name, input: JSON.stringify(ending.input) }]);
  }
  const action =
    decision.type === 'answer'
      ? { type: 'final_answer', payload: { answer: decision.text } }
      : { type: decision.name, payload: decision.input };
  return completeAnswer(
    JSON.stringify({ action, plan_update: planUpdate(decision, readConversation(request.messages)) }),
  );
}

/** Uses the final-answer tool if there is one. */
function endingCall(tools: readonly ModelTool[], text: string): RuleDecision | undefined {
  return buildCall('answer', tools, (tool) => answerInput(tool, text));
}

const MAX_QUERY = 400;
/** The tool that accepts and rejects skills of a shortlist. */
const CHOICE = 'choose_skills';
/** How many skills are tried if loading fails. */
const MOST_LOADS = 2;

/**
 * Decides the next step of the rule model: search, load the best skill, run its quickstart, show the output. Depends on the request
 * alone.
 */
function decideByRules(request: ModelRequest): RuleDecision {
  const tools = offeredTools(request);
  const conversation = readConversation(request.messages);
  const forced = forcedChoice({ request, conversation, tools });
  if (forced !== undefined) return forced;
  const ran = conversation.calls.findLast((call) => findRole(call.name) === 'run');
  const loads = conversation.calls.filter((call) => findRole(call.name) === 'load');
  const loaded = loads.findLast(({ isError }) => !isError);
  const skill = skillOfLoad(loaded?.input) ?? acceptedSkill(conversation) ?? findInvokedSkill(conversation);
  if (ran !== undefined) return answer(ranText(skill ?? '', ran.result, ran.isError));
  if (skill !== undefined) return follow(skill, { request, conversation, tools });
  return choose({ request, conversation, tools }, loads);
}

/** Forced activation: accepts the best skill if its score is high enough, and no other. */
function forcedChoice({ request, conversation, tools }: Situation): RuleDecision | undefined {
  const tool = tools.find(({ name }) => name === CHOICE);
  const names = tool === undefined ? [] : listChoices(tool);
  if (tool === undefined || conversation.calls.some(({ name, isError }) => name === tool.name && !isError))
    return undefined;
  const skills = [conversation.request, request.system].flatMap(skillsInCatalog);
  const files = filesIn(conversation.request).map(({ path }) => path);
  const scored = scoreSkills({ request: extractUserWords(conversation), files, skills });
  const best = scored.find(({ name, isConvincing }) => isConvincing && names.includes(name));
  const accepted = best === undefined ? [] : [best.name];
  const rejected = names.filter((name) => !accepted.includes(name));
  const reason = best === undefined ? 'no description matches these words' : 'its description matches these words';
  return { type: 'call', role: 'load', name: tool.name, input: { accepted, rejected, reason } };
}

/** Accepted skills are loaded. */
function acceptedSkill({ calls }: Conversation): string | undefined {
  return acceptedBy(calls.find(({ name, isError }) => name === CHOICE && !isError)?.input);
}

function acceptedBy(input: unknown): string | undefined {
  const accepted = isObject(input) ? input['accepted'] : undefined;
  const first: unknown = Array.isArray(accepted) ? accepted[0] : undefined;
  return typeof first === 'string' ? first : undefined;
}

interface Situation {
  readonly request: ModelRequest;
  readonly conversation: Conversation;
  readonly tools: readonly ModelTool[];
}

function choose(situation: Situation, failedLoads: readonly DoneCall[]): RuleDecision {
  const { request, conversation, tools } = situation;
  const searched = conversation.calls.find((call) => findRole(call.name) === 'search');
  const query = extractUserWords(conversation);
  const search =
    searched === undefined
      ? buildCall('search', tools, (tool) => searchInput(tool, sliceStart(query, MAX_QUERY)))
      : undefined;
  if (search !== undefined && query !== '') return search;
  const found = searched === undefined || searched.isError ? [] : skillsInResult(searched.result);
  const files = filesIn(conversation.request).map(({ path }) => path);
  const skills = [...found, ...[conversation.request, request.system].flatMap(skillsInCatalog)];
  const scored = scoreSkills({ request: query, files, skills });
  const last = failedLoads.at(-1);
  const tried = new Set(failedLoads.map(({ input }) => skillOfLoad(input)));
  const best = scored.find(({ name, isConvincing }) => isConvincing && !tried.has(name));
  if (best === undefined || failedLoads.length >= MOST_LOADS)
    return last === undefined
      ? fallBack(situation, scored)
      : answer(couldNotLoad(skillOfLoad(last.input) ?? '', last.result));
  return buildCall('load', tools, (tool) => loadInput(tool, best.name)) ?? answer(noSkillFits(scored));
}

/** Returns only the words of the user. */
function extractUserWords({ request }: Conversation): string {
  return withoutFiles(withoutSkillTexts(request));
}

/** If no skill scores high enough, a skill that was loaded beforehand is used. */
function fallBack(situation: Situation, scored: readonly ScoredSkill[]): RuleDecision {
  const [only, ...others] = loadedIn(situation.request.system);
  return only !== undefined && others.length === 0 ? follow(only.name, situation) : answer(noSkillFits(scored));
}

/** A skill that the user invoked: its text is part of the request. */
function findInvokedSkill({ request: asked, calls }: Conversation): string | undefined {
  const invoked = loadedIn(asked).at(-1)?.name;
  return invoked !== undefined && calls.every(({ name }) => findRole(name) !== 'load') ? invoked : undefined;
}

function follow(skill: string, { request, conversation, tools }: Situation): RuleDecision {
  const reading = readSkillQuickstart(skill, request, conversation);
  if (reading.type !== 'found')
    return answer(noQuickstart(skill, reading.type === 'invalid' ? reading.problem : undefined));
  const filled = fillQuickstart(reading.quickstart, {
    request: extractUserWords(conversation),
    files: filesIn(conversation.request).map(({ path }) => path),
  });
  if (filled.type === 'missing')
    return answer(hasRun(tools) ? somethingMissing(skill, filled.placeholders) : cannotRun(skill));
  const { script, args } = filled;
  return buildCall('run', tools, (tool) => runInput(tool, { skill, script, args })) ?? answer(cannotRun(skill, filled));
}

function hasRun(tools: Situation['tools']): boolean {
  return tools.some(({ name }) => findRole(name) === 'run');
}

/**
 * Searched in the result of loading or accepting the skill, now or earlier, in the system message, and in the request; never in the
 * output of a script.
 */
function readSkillQuickstart(
  skill: string,
  request: ModelRequest,
  { request: asked, calls, earlier }: Conversation,
): QuickstartReading {
  const loads = [...earlier, ...calls].filter(
    ({ name, input, isError }) =>
      !isError && (name === CHOICE ? acceptedBy(input) : findRole(name) === 'load' && skillOfLoad(input)) === skill,
  );
  const standing = [...loadedIn(request.system), ...loadedIn(asked)].filter(({ name }) => name === skill);
  const texts = [...loads.toReversed().flatMap(({ result }) => textsIn(result)), ...standing.map(({ text }) => text)];
  return texts.map((text) => findQuickstart(text)).find(({ type }) => type !== 'absent') ?? { type: 'absent' };
}

function answer(text: string): RuleDecision {
  return { type: 'answer', text };
}

/** The same three steps for every request; only their status changes. */
const STEPS = [
  { id: 'find', title: 'find a suitable skill and load it' },
  { id: 'run', title: 'follow its quickstart' },
  { id: 'answer', title: 'answer from its output' },
] as const;

const MAX_GOAL = 200;

/** The whole plan in the first step, afterwards only changes. */
function planUpdate(decision: RuleDecision, { request, calls }: Conversation): object {
  const isDone = (role: Role): boolean => calls.some(({ name, isError }) => findRole(name) === role && !isError);
  const done = { find: isDone('load') || isDone('run'), run: isDone('run'), answer: decision.type === 'answer' };
  const next = done.answer ? undefined : STEPS.find(({ id }) => !done[id])?.id;
  const stateOf = (id: keyof typeof done): Plan['steps'][number]['status'] =>
    done[id] ? 'completed' : id === next ? 'in_progress' : 'pending';
  const steps = STEPS.map((step) => ({ ...step, status: stateOf(step.id) }));
  if (calls.length > 0) return { mode: 'patch', steps: steps.map(({ id, status }) => ({ id, status })) };
  const goal = sliceStart(withoutFiles(withoutSkillTexts(request)), MAX_GOAL);
  return { mode: 'replace', plan: { goal, steps, assumptions: [], constraints: {} } };
}

interface DoneCall {
  readonly name: string;
  readonly input: unknown;
  readonly result: string;
  readonly isError: boolean;
}

interface Conversation {
  readonly request: string;
  readonly calls: readonly DoneCall[];
  readonly earlier: readonly DoneCall[];
}

type OpenCall = Pick<DoneCall, 'name' | 'input'> & { readonly id: string };

/**
 * Reconstructs the progress from the messages alone: a rule model has no memory, so that every run can be resumed.
 * A user message is a new request if no call waits for its result. In the action protocol, results are user messages; a message of the
 * loop after a result is neither.
 */
export function readConversation(messages: readonly ModelMessage[]): Conversation {
  let request = '';
  const earlier: DoneCall[] = [];
  let calls: DoneCall[] = [];
  let open: readonly OpenCall[] = [];
  let before: ModelMessage['role'] | 'result' = 'assistant';
  for (const message of messages) {
    if (message.role === 'assistant') {
      open = openCalls(message);
      before = 'assistant';
      continue;
    }
    const answered = open.find(({ id }) => id === (message.role === 'tool' ? message.callId : ''));
    if (answered !== undefined) {
      calls.push({ ...answered, ...readCallResult(message) });
      open = open.filter((call) => call !== answered);
      before = 'result';
    } else if (message.role === 'user' && before === 'assistant') {
      request = message.content;
      earlier.push(...calls);
      calls = [];
      before = 'user';
    } else if (message.role === 'user' && before === 'user') request += `\n${message.content}`;
  }
  return { request, calls, earlier };
}

function openCalls({ content, toolCalls }: Extract<ModelMessage, { readonly role: 'assistant' }>): readonly OpenCall[] {
  if (toolCalls.length > 0) return toolCalls.map(toOpenCall);
  const value = readJson(content);
  const action = isObject(value) ? value['action'] : undefined;
  if (!isObject(action) || typeof action['type'] !== 'string' || action['type'] === 'final_answer') return [];
  return [{ id: '', name: action['type'], input: action['payload'] }];
}

function toOpenCall({ id, name, input }: ModelToolCall): OpenCall {
  return { id, name, input: readJson(input) };
}

function readCallResult(
  message: Exclude<ModelMessage, { readonly role: 'assistant' }>,
): Pick<DoneCall, 'result' | 'isError'> {
  if (message.role === 'tool') return { result: message.content, isError: message.isError };
  const result = withoutHeading(message.content);
  const value = readJson(result);
  return { result, isError: isObject(value) && (value['ok'] === false || value['success'] === false) };
}

/** A loop may write a line or two above the JSON of a result. */
function withoutHeading(content: string): string {
  const start = content.search(/^[{[]/m);
  const rest = start > 0 ? content.slice(start) : '';
  return readJson(rest) === undefined ? content : rest;
}

interface RequestFile {
  /** As given: `workspace://work/inputs/orders.csv`. */
  readonly reference: string;
  /** As a script of a skill opens it. */
  readonly path: string;
}

const SCHEME = 'workspace://';
const MAX_FILES = 1000;
const MAX_LINE = 4096;
/** In quotes, or a word of a sentence. */
const REFERENCE = /["'`<](workspace:\/\/[^"'`<>]+)["'`>]|(workspace:\/\/[^\s"'`<>]+)/g;
/** The skill folder contains `inputs`, `work` and `out` of the workspace. */
const FOLDERS: readonly (readonly [string, string])[] = [
  ['work/inputs/', 'inputs/'],
  ['work/', 'work/'],
  ['out/', 'out/'],
];

/** Returns the files that were given with a request. Paths that lead elsewhere are ignored. */
export function filesIn(request: string): readonly RequestFile[] {
  const files = new Map<string, RequestFile>();
  for (const line of request.split('\n')) {
    for (const reference of referencesIn(line)) {
      const file = parseFileReference(reference);
      if (file !== undefined && files.size < MAX_FILES) files.set(file.path, file);
    }
  }
  return [...files.values()];
}

export function withoutFiles(request: string): string {
  const lines = request.split('\n').filter((line) => listedReference(line) === undefined);
  return lines
    .map((line) => line.slice(0, MAX_LINE).replaceAll(REFERENCE, ' '))
    .join('\n')
    .trim();
}

function referencesIn(line: string): readonly string[] {
  if (!line.includes(SCHEME) || line.length > MAX_LINE) return [];
  const listed = listedReference(line);
  if (listed !== undefined) return [listed];
  return [...line.matchAll(REFERENCE)].map(
    ([, quoted, word = '']) => quoted ?? word.replace(/[.,;:!?)\]}。，；：！？）]+$/, ''),
  );
}

/** `- workspace://work/inputs/my orders.csv (12 KB)`: a name with spaces, and a remark that is not part of it. */
function listedReference(line: string): string | undefined {
  const item = /^[-*] /.test(line.trimStart()) ? line.trim().slice(2).trimStart() : '';
  if (!item.startsWith(SCHEME)) return undefined;
  const remark = item.endsWith(')') ? item.lastIndexOf(' (') : -1;
  return remark === -1 ? item : item.slice(0, remark).trimEnd();
}

function parseFileReference(reference: string): RequestFile | undefined {
  const reading = toRelativePath(reference.slice(SCHEME.length));
  if (isProblem(reading)) return undefined;
  const folder = FOLDERS.find(([place]) => reading.startsWith(place));
  if (folder === undefined) return undefined;
  return { reference: SCHEME + reading, path: folder[1] + reading.slice(folder[0].length) };
}
