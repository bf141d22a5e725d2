/** Records the answers of a model once and replays them: a real conversation in a test, without network and API key. */
import {
  defined,
  diffLines,
  isSkillError,
  printable,
  SkillError,
  stableJson,
  type Model,
  type ModelAnswer,
  type ModelDelta,
  type ModelRequest,
} from '#core';
import {
  CASSETTE_VERSION,
  appendEntry,
  readCassette,
  type CassetteEntry,
  type CassetteError,
  type CassetteHeader,
} from './cassette-file.ts';
import { emitWhole } from '../emit.ts';
import { sha256 } from '#platform';

type ModelMessage = ModelRequest['messages'][number];

export interface RecordOptions {
  /** Removes secrets from every text before it is written or hashed. Replaying needs the same function. */
  readonly redact?: ChangeText;
  /** False stores only the hash of each request, so that differences cannot be shown (default: true). */
  readonly keepRequests?: boolean;
  /** Ties this cassette to others that are recorded one after the other. */
  readonly turn?: CassetteHeader['turn'];
}

export interface ReplayOptions {
  readonly redact?: ChangeText;
  /** True fails on a request that was not recorded, or not as often; false returns the next recorded answer instead (default: true). */
  readonly strict?: boolean;
}

export interface ReplayModel extends Model {
  /** A digest of what the model said, whatever it was asked. */
  readonly answers: string;
  /** An answer, or the turn, was edited after it was recorded. Nothing is known of recordings of earlier versions. */
  readonly isEdited: boolean;
  readonly turn?: CassetteHeader['turn'];
  assertDone(): void;
}

const asItIs: ChangeText = (text) => text;

/**
 * Returns the same model, but appends each of its answers to the file. Failures of the model are recorded as well; if the file cannot
 * be written, the call fails.
 */
export function recordCassette(model: Model, file: string, options: RecordOptions = {}): Model {
  const { redact = asItIs, keepRequests = true, turn } = options;
  const { contextWindow, answerSchemas, takesImages } = model;
  const window = {
    ...defined({ contextWindow, answerSchemas }),
  };
  const header: CassetteHeader = { cassette: CASSETTE_VERSION, model: model.id, ...window, ...defined({ turn }) };
  return {
    id: model.id,
    ...window,
    ...defined({ takesImages }),
    async call(request, { signal, onDelta }) {
      const normal = normalRequest(request, redact);
      const asked = { key: requestKey(normal), ...(keepRequests ? { request: normal } : {}) };
      const deltas: ModelDelta[] = [];
      const listening = onDelta === undefined ? {} : { onDelta: heard(deltas, onDelta) };
      try {
        const answer = await model.call(request, { signal, ...listening });
        const changed = changedAnswer(answer, redact);
        const entry = { ...asked, answer: changed, deltas: safeDeltas(deltas, answer, changed) };
        await appendEntry(file, header, withDigest(header, entry), signal);
        return answer;
      } catch (error) {
        const failure = toCassetteError(error, redact);
        // Deltas before a failure may contain half a secret and are of no use.
        if (failure !== undefined)
          await appendEntry(file, header, withDigest(header, { ...asked, error: failure, deltas: [] }), signal);
        throw error;
      }
    },
  };
}

function heard(deltas: ModelDelta[], onDelta: (delta: ModelDelta) => void): (delta: ModelDelta) => void {
  return (delta) => {
    deltas.push(delta);
    onDelta(delta);
  };
}

function changedAnswer(answer: ModelAnswer, redact: ChangeText): ModelAnswer {
  const toolCalls = answer.toolCalls.map(({ id, name, input }) => ({ id, name: redact(name), input: redact(input) }));
  return { ...answer, text: redact(answer.text), toolCalls };
}

/** A secret may be spread over several deltas, so a redacted text is stored as one delta. */
function safeDeltas(deltas: readonly ModelDelta[], was: ModelAnswer, is: ModelAnswer): readonly ModelDelta[] {
  const streamed = (id: string | undefined): string =>
    deltas.flatMap((delta) => (readDeltaId(delta) === id ? [delta.text] : [])).join('');
  const isSafe =
    was.text === is.text &&
    streamed(undefined) === is.text &&
    is.toolCalls.every(({ id, name, input }, place) => {
      const before = was.toolCalls[place];
      return before?.input === input && before.name === name && streamed(id) === input;
    }) &&
    deltas.every(
      (delta) => delta.type === 'text' || is.toolCalls.some(({ id, name }) => id === delta.id && name === delta.name),
    );
  if (isSafe || deltas.length === 0) return deltas;
  const whole: ModelDelta[] = [];
  emitWhole(is, (delta) => whole.push(delta));
  return whole;
}

function readDeltaId(delta: ModelDelta): string | undefined {
  return delta.type === 'text' ? undefined : delta.id;
}

/** Only failures of the model are recorded, not aborts and bugs. */
function toCassetteError(error: unknown, redact: ChangeText): CassetteError | undefined {
  if (!isSkillError(error) || error.code !== 'model/failed') return undefined;
  const { status = 0, isRetryable = false } = failedData(error.data);
  return { message: redact(error.message), hint: redact(error.hint), status, isRetryable };
}

function failedData(data: SkillError['data']): { readonly status?: number; readonly isRetryable?: boolean } {
  return 'isRetryable' in data ? data : {};
}

/** Replays a cassette: returns the answer that was recorded for the same request, in the order of recording. */
export function replayCassette(file: string, options: ReplayOptions = {}): ReplayModel {
  const { redact = asItIs, strict = true } = options;
  const { header, entries } = readCassette(file);
  const left = new Set(entries);
  return {
    id: header.model,
    answers: answersDigest(entries),
    isEdited:
      entries.some(({ digest }) => digest !== undefined) &&
      entries.some((entry) => entry.digest !== withDigest(header, entry).digest),
    ...defined({ contextWindow: header.contextWindow, answerSchemas: header.answerSchemas, turn: header.turn }),
    call(request, callOptions) {
      if (callOptions.signal.aborted) return Promise.reject(callOptions.signal.reason);
      const normal = normalRequest(request, redact);
      const key = requestKey(normal);
      const waiting = [...left];
      const entry =
        waiting.find((candidate) => candidate.key === key) ??
        (strict ? undefined : (entries.findLast((candidate) => candidate.key === key) ?? waiting[0]));
      if (entry === undefined)
        return Promise.reject(notRecorded(header.model, file, normal, { key, entries, waiting }));
      left.delete(entry);
      return played(header.model, entry, callOptions);
    },
    assertDone() {
      if (left.size === 0) return;
      throw failed(header.model, `${String(left.size)} of ${String(entries.length)} recorded calls were not requested`);
    },
  };
}

function withDigest({ model, turn }: CassetteHeader, entry: CassetteEntry): CassetteEntry {
  const { key, answer, error, deltas } = entry;
  return {
    ...entry,
    digest: sha256(stableJson([model, key, answer ?? '', error ?? '', deltas, ...(turn === undefined ? [] : [turn])])),
  };
}

function answersDigest(entries: readonly CassetteEntry[]): string {
  const texts = entries.map(({ answer }) =>
    answer === undefined ? 'failed' : [answer.text, answer.toolCalls.map(({ name, input }) => [name, input])],
  );
  return sha256(stableJson(texts));
}

async function played(
  model: string,
  { answer, error, deltas }: CassetteEntry,
  { onDelta }: Parameters<Model['call']>[1],
): Promise<ModelAnswer> {
  await Promise.resolve();
  if (answer === undefined)
    throw new SkillError({
      code: 'model/failed',
      message: error?.message ?? '',
      hint: error?.hint ?? '',
      data: { model, status: error?.status ?? 0, isRetryable: error?.isRetryable ?? false },
    });
  if (deltas.length === 0) emitWhole(answer, onDelta);
  else for (const delta of deltas) onDelta?.(delta);
  return answer;
}

interface Search {
  readonly key: string;
  readonly entries: readonly CassetteEntry[];
  readonly waiting: readonly CassetteEntry[];
}

function notRecorded(model: string, file: string, asked: ModelRequest, { key, entries, waiting }: Search): SkillError {
  const times = entries.filter((entry) => entry.key === key).length;
  if (times > 0) return failed(model, `this request was recorded ${String(times)} times and is now sent once more`);
  const next = waiting[0];
  if (next === undefined)
    return failed(model, `all ${String(entries.length)} recorded calls of ${file} have been replayed`);
  if (next.request === undefined)
    return failed(model, 'this request was not recorded (the cassette keeps only hashes)');
  return failed(
    model,
    `this request was not recorded; differences (+) to the next recorded one (-):\n${requestDifference(next.request, asked)}`,
  );
}

function failed(model: string, message: string): SkillError<'model/failed'> {
  return new SkillError({
    code: 'model/failed',
    message,
    hint: 'if the change is intended, record the cassette again',
    data: { model, status: 0, isRetryable: false },
  });
}

type ChangeText = (text: string) => string;

/** Normalizes line endings, numbers call ids by their order, and applies `redact` to every text. */
function normalRequest(request: ModelRequest, redact: ChangeText): ModelRequest {
  const ids = new Map<string, string>();
  const change = (text: string): string => redact(text.replaceAll('\r\n', '\n'));
  const idOf = (id: string): string => {
    const known = ids.get(id) ?? `call-${String(ids.size + 1)}`;
    ids.set(id, known);
    return known;
  };
  return {
    system: change(request.system),
    messages: request.messages.map((message) => normalMessage(message, change, idOf)),
    tools: request.tools.map((tool) => changedTexts(tool, change)),
    answerSchema: request.answerSchema === undefined ? undefined : changedTexts(request.answerSchema, change),
    maxOutputTokens: request.maxOutputTokens,
  };
}

function normalMessage(message: ModelMessage, change: ChangeText, idOf: ChangeText): ModelMessage {
  const content = change(message.content);
  switch (message.role) {
    case 'user':
      return { role: 'user', content, ...normalImages(message) };
    case 'assistant': {
      const toolCalls = message.toolCalls.map(({ id, name, input }) => ({
        id: idOf(id),
        name: change(name),
        input: change(input),
      }));
      return { role: 'assistant', content, toolCalls };
    }
    case 'tool':
      return {
        role: 'tool',
        callId: idOf(message.callId),
        toolName: change(message.toolName),
        content,
        isError: message.isError,
        ...normalImages(message),
      };
  }
}

/** By their digests, so that a cassette stays small. */
function normalImages({ images }: Pick<Extract<ModelMessage, { readonly role: 'user' }>, 'images'>): object {
  if (images === undefined) return {};
  return { images: images.map(({ mediaType, data }) => ({ mediaType, data: sha256(data) })) };
}

function changedTexts<T>(value: T, change: ChangeText): T {
  const text = JSON.stringify(value, (_key, item: unknown) => (typeof item === 'string' ? change(item) : item));
  // The same shape: only texts were replaced by texts.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(text) as T;
}

function requestKey(normal: ModelRequest): string {
  return sha256(stableJson(normal));
}

const MOST_LINES = 60;
const LONGEST_LINE = 240;

/** Lists the differences to a recorded request as lines with - and +; long lines are truncated. */
function requestDifference(recorded: ModelRequest, asked: ModelRequest): string {
  const { hunks } = diffLines(requestText(recorded), requestText(asked));
  const lines = hunks.flatMap(({ lines: inHunk }, place) => [
    ...(place === 0 ? [] : ['  …']),
    ...inHunk.map(({ kind, text }) => `${MARKS[kind]} ${cut(text)}`),
  ]);
  const more = lines.length - MOST_LINES;
  return [...lines.slice(0, MOST_LINES), ...(more > 0 ? [`  … and ${String(more)} more lines`] : [])].join('\n');
}

const MARKS = { same: ' ', removed: '-', added: '+' } as const;

function cut(line: string): string {
  const shown = printable(line.slice(0, LONGEST_LINE));
  return line.length > LONGEST_LINE ? `${shown}…` : shown;
}

function requestText({ system, messages, tools, answerSchema, maxOutputTokens }: ModelRequest): string {
  return [
    '[system]',
    system,
    ...messages.flatMap((message) => [`[${message.role}]`, message.content, ...aboutCalls(message)]),
    ...tools.map((tool) => `[tool] ${stableJson(tool)}`),
    `[answer schema] ${stableJson(answerSchema ?? null)}`,
    `[max output tokens] ${String(maxOutputTokens ?? 'any')}`,
  ].join('\n');
}

function aboutCalls(message: ModelMessage): readonly string[] {
  switch (message.role) {
    case 'user':
      return [];
    case 'assistant':
      return message.toolCalls.map(({ id, name, input }) => `[call ${id}] ${name} ${input}`);
    case 'tool':
      return [`[result of ${message.callId}] ${message.toolName}${message.isError ? ' (error)' : ''}`];
  }
}
