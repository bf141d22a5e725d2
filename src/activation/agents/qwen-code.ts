import { answerEvent, byName, listAll, type Agent } from './agent.ts';
import { isDisabledName } from './disabled-names.ts';
import { readByRules } from './skill-rules.ts';
import {
  afterIntroduction,
  countIn,
  joinTexts,
  listIn,
  objectIn,
  skillReadBy,
  textIn,
  timeIn,
  type Row,
  type TranscriptEvent,
} from './transcript.ts';

const sort = byName((a, b) => a.localeCompare(b));

export const QWEN_CODE: Agent = {
  id: 'qwen-code',
  checkedVersion: '0.24.4',
  folders: [
    { path: '.qwen/skills', withHidden: true },
    { path: '.agents/skills', withHidden: true },
    { path: '~/.qwen/skills', withHidden: true },
    { path: '~/.agents/skills', withHidden: true },
  ],
  sameName: 'first',
  settings: ['~/.qwen/settings.json', '.qwen/settings.json'],
  readSkill: (file) =>
    readByRules(file, {
      invalidYaml: 'lines',
      withoutFrontmatter: 'reject',
      name: 'field',
      namePattern: /^[\w:.-]+$/,
      withoutDescription: 'reject',
      otherTypes: 'text',
      hidesManual: true,
      hidesPaths: true,
    }),
  visibility: ({ name }, settings) => (isDisabledName(name, settings) ? 'hidden' : 'listed'),
  listSkills: (skills) => listAll(sort(skills)),
  transcript: { folder: '~/.qwen/projects', files: /\/chats\/[^/]*\.jsonl$/, open: () => readLine },
  hook: {
    type: 'entry',
    file: '~/.qwen/settings.json',
    event: 'UserPromptSubmit',
    timeout: 2000,
    answer: answerEvent('UserPromptSubmit'),
  },
};

function readLine(line: Row): readonly TranscriptEvent[] | undefined {
  const { type, sessionId, cwd, version, message, uuid, timestamp, toolCallResult } = line;
  if (typeof type !== 'string') return undefined;
  if (type === 'system') return [];
  const { parts } = objectIn(message);
  if (!Array.isArray(parts)) return undefined;
  const session: TranscriptEvent = {
    type: 'session',
    id: textIn(sessionId),
    cwd: textIn(cwd),
    version: textIn(version),
  };
  // Hooks and memory add further parts.
  const text = joinTexts(parts.slice(0, 1));
  if (type === 'user')
    return text === '' ? [session] : [session, { type: 'request', text, id: textIn(uuid), at: timeIn(timestamp) }];
  if (type === 'tool_result') {
    const { callId, status } = objectIn(toolCallResult);
    const output = textIn(objectIn(listIn(parts)[0], 'functionResponse', 'response')['output']);
    if (typeof callId !== 'string') return undefined;
    const loaded = output === undefined ? {} : { text: afterIntroduction(output) };
    return [session, { type: 'result', id: callId, ok: status === 'success', ...loaded }];
  }
  return type === 'assistant' ? [session, ...readAnswer(line, listIn(parts))] : [session];
}

function readAnswer({ model, usageMetadata, uuid }: Row, parts: readonly Row[]): readonly TranscriptEvent[] {
  const calls = parts.flatMap(({ functionCall }): TranscriptEvent[] => {
    const { id, name, args } = objectIn(functionCall);
    const skill = name === 'skill' ? textIn(objectIn(args)['skill']) : skillReadBy(name, args);
    return typeof id === 'string' && skill !== undefined ? [{ type: 'call', id, skill }] : [];
  });
  const { promptTokenCount, candidatesTokenCount, cachedContentTokenCount } = objectIn(usageMetadata);
  return [
    ...calls,
    {
      type: 'tokens',
      id: textIn(uuid),
      model: textIn(model),
      input: countIn(promptTokenCount),
      output: countIn(candidatesTokenCount),
      cached: countIn(cachedContentTokenCount),
      written: 0,
    },
  ];
}
