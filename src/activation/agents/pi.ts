import { listAll, type Agent } from './agent.ts';
import { askScript } from './ask-script.ts';
import { readByRules } from './skill-rules.ts';
import {
  countIn,
  joinTexts,
  listIn,
  moneyIn,
  objectIn,
  skillReadBy,
  textIn,
  timeIn,
  type Row,
  type TranscriptEvent,
} from './transcript.ts';

const EVERYWHERE = { depth: Number.POSITIVE_INFINITY } as const;

export const PI: Agent = {
  id: 'pi',
  checkedVersion: '0.87.1',
  folders: [
    { path: '.pi/skills', ...EVERYWHERE },
    { path: '.agents/skills', isInParents: true, ...EVERYWHERE },
    { path: '~/.pi/agent/skills', ...EVERYWHERE },
    { path: '~/.agents/skills', ...EVERYWHERE },
  ],
  sameName: 'first',
  projectTrust: 'trust the project in pi (pi --approve)',
  settings: [],
  readSkill: (file) =>
    readByRules(file, {
      invalidYaml: 'reject',
      withoutFrontmatter: 'reject',
      name: 'field-or-folder',
      withoutDescription: 'reject',
      otherTypes: 'missing',
      hidesManual: true,
    }),
  listSkills: listAll,
  transcript: { folder: '~/.pi/agent/sessions', files: /\.jsonl$/, open: () => readLine },
  hook: {
    type: 'file',
    file: '~/.pi/agent/extensions/skillwright.js',
    content: ({ script }) => extensionText(script),
    answer: (text) => ({ additionalContext: text }),
  },
};

function readLine({ type, cwd, id, version, message, timestamp }: Row): readonly TranscriptEvent[] | undefined {
  if (typeof type !== 'string') return undefined;
  if (type === 'session')
    return [{ type: 'session', id: textIn(id), cwd: textIn(cwd), version: `format ${String(version)}` }];
  if (type !== 'message') return [];
  const { role, content, toolCallId, isError, model, provider, usage } = objectIn(message);
  if (typeof role !== 'string') return undefined;
  if (role === 'user') {
    const text = joinTexts(content);
    return text === '' ? [] : [{ type: 'request', text, id: textIn(id), at: timeIn(timestamp) }];
  }
  if (role === 'toolResult' && typeof toolCallId === 'string')
    return [{ type: 'result', id: toolCallId, ok: isError === false, text: joinTexts(content) }];
  if (role !== 'assistant') return [];
  const calls = listIn(content).flatMap(({ type: kind, name, arguments: input, id: call }): TranscriptEvent[] => {
    const skill = kind === 'toolCall' ? skillReadBy(name, input) : undefined;
    return skill === undefined || typeof call !== 'string' ? [] : [{ type: 'call', id: call, skill }];
  });
  const { input, output, cacheRead, cacheWrite, cost } = objectIn(usage);
  const [cached, written] = [countIn(cacheRead), countIn(cacheWrite)];
  return [
    ...calls,
    {
      type: 'tokens',
      model: `${textIn(provider) ?? ''}/${textIn(model) ?? ''}`,
      input: countIn(input) + cached + written,
      output: countIn(output),
      cached,
      written,
      usd: moneyIn(objectIn(cost)['total']),
    },
  ];
}

/** An extension that adds a message to the prompt. Tool calls are kept, because they say which skills are loaded. */
function extensionText(script: string): string {
  return `${askScript('pi', script)}
export default function skillwright(pi) {
  let calls = [];
  pi.on('session_start', () => {
    calls = [];
  });
  pi.on('tool_call', ({ input }) => {
    calls = [...calls, JSON.stringify(input)].slice(-200);
  });
  pi.on('before_agent_start', async ({ prompt }, { cwd }) => {
    const content = await ask({ cwd, prompt, calls });
    return content === '' ? undefined : { message: { customType: 'skillwright', content, display: false } };
  });
}
`;
}
