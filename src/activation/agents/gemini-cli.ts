import { answerEvent, listAll, type Agent } from './agent.ts';
import { isDisabledName } from './disabled-names.ts';
import { readByRules } from './skill-rules.ts';
import {
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

export const GEMINI_CLI: Agent = {
  id: 'gemini-cli',
  checkedVersion: '0.61.0',
  folders: [
    { path: '~/.gemini/skills' },
    { path: '~/.agents/skills' },
    { path: '.gemini/skills' },
    { path: '.agents/skills' },
  ],
  sameName: 'last',
  projectTrust: 'trust the folder in Gemini CLI (/permissions)',
  settings: ['~/.gemini/settings.json', '.gemini/settings.json'],
  readSkill: (file) =>
    readByRules(file, {
      invalidYaml: 'lines',
      withoutFrontmatter: 'reject',
      isMarkRejected: true,
      name: 'field',
      withoutDescription: 'reject',
      emptyDescription: 'accept',
      otherTypes: 'text',
    }),
  visibility: ({ name }, settings) => (isDisabledName(name, settings) ? 'hidden' : 'listed'),
  listSkills: listAll,
  transcript: {
    folder: '~/.gemini/tmp',
    files: /\/chats\/session-[^/]*\.jsonl$/,
    projectFile: '../.project_root',
    open: () => readLine,
  },
  hook: {
    type: 'entry',
    file: '~/.gemini/settings.json',
    event: 'BeforeAgent',
    timeout: 2000,
    answer: answerEvent('BeforeAgent'),
  },
};

/** A message is written again when its calls have ended. `$set` changes fields of the session. */
function readLine(line: Row): readonly TranscriptEvent[] | undefined {
  const { type, id, sessionId, content, displayContent, timestamp } = line;
  if (line['$set'] !== undefined || line['$rewindTo'] !== undefined) return [];
  if (typeof sessionId === 'string') return [{ type: 'session', id: sessionId }];
  if (typeof type !== 'string' || typeof id !== 'string') return undefined;
  if (type === 'user') {
    const text = joinTexts(displayContent ?? content);
    return text === '' || text.startsWith('<session_context>')
      ? []
      : [{ type: 'request', text, id, at: timeIn(timestamp) }];
  }
  if (type !== 'gemini') return [];
  const loads = listIn(line['toolCalls']).flatMap(({ id: call, name, args, status, result }): TranscriptEvent[] => {
    const skill = name === 'activate_skill' ? textIn(objectIn(args)['name']) : skillReadBy(name, args);
    if (status !== 'success' || skill === undefined) return [];
    const output = textIn(objectIn(listIn(result)[0], 'functionResponse', 'response')['output']) ?? '';
    const text = /<instructions>\n([\s\S]*)\n\s*<\/instructions>/.exec(output)?.[1];
    return [{ type: 'load', id: textIn(call) ?? id, skill, byUser: false, text }];
  });
  const { input, output, thoughts, cached } = objectIn(line['tokens']);
  return [
    ...loads,
    {
      type: 'tokens',
      id,
      model: `google/${textIn(line['model']) ?? ''}`,
      input: countIn(input),
      output: countIn(output) + countIn(thoughts),
      cached: countIn(cached),
      written: 0,
    },
  ];
}
