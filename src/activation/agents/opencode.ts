import { isObject } from '#core';
import { byName, listAll, type Agent, type Settings } from './agent.ts';
import { askScript } from './ask-script.ts';
import { readByRules } from './skill-rules.ts';
import {
  countIn,
  moneyIn,
  objectIn,
  skillReadBy,
  textIn,
  timeIn,
  type Row,
  type TranscriptEvent,
} from './transcript.ts';

const sort = byName((a, b) => a.localeCompare(b));
const EVERYWHERE = { depth: Number.POSITIVE_INFINITY, isInsideSkills: true, withHidden: true } as const;

/* oxlint-disable no-template-curly-in-string -- `${NAME:-path}` is the notation of folders. */
export const OPENCODE: Agent = {
  id: 'opencode',
  checkedVersion: '1.18.18',
  folders: [
    { path: '~/.claude/skills', ...EVERYWHERE },
    { path: '~/.agents/skills', ...EVERYWHERE },
    { path: '.claude/skills', isInParents: true, ...EVERYWHERE },
    { path: '.agents/skills', isInParents: true, ...EVERYWHERE },
    { path: '${XDG_CONFIG_HOME:-~/.config}/opencode/skills', ...EVERYWHERE },
    { path: '.opencode/skills', isInParents: true, ...EVERYWHERE },
    { path: '~/.opencode/skills', ...EVERYWHERE },
  ],
  sameName: 'last',
  settings: ['${XDG_CONFIG_HOME:-~/.config}/opencode/opencode.json', 'opencode.json'],
  readSkill: (file) =>
    readByRules(file, {
      invalidYaml: 'lines',
      openQuote: 'reject',
      withoutFrontmatter: 'reject',
      name: 'field',
      withoutDescription: 'reject',
      emptyDescription: 'accept',
      otherTypes: 'reject',
    }),
  visibility: ({ name }, settings) => (findPermission(name, settings) === 'deny' ? 'hidden' : 'listed'),
  listSkills: (skills) => listAll(sort(skills)),
  transcript: {
    folder: '${XDG_DATA_HOME:-~/.local/share}/opencode',
    files: /^opencode\.db$/,
    tables: ['session', 'message', 'part'],
    open: openReader,
  },
  hook: {
    type: 'file',
    file: '${XDG_CONFIG_HOME:-~/.config}/opencode/plugins/skillwright.js',
    content: ({ script }) => pluginText(script),
    answer: (text) => ({ additionalContext: text }),
  },
};
/* oxlint-enable no-template-curly-in-string */

/** `permission.skill` maps patterns with `*` to a decision; the last pattern that matches wins. */
function findPermission(name: string, settings: Settings): unknown {
  const decisions = settings.flatMap(({ permission }): readonly (readonly [string, unknown])[] => {
    const skill: unknown =
      typeof permission === 'object' && permission !== null && 'skill' in permission && permission.skill;
    return typeof skill === 'object' && skill !== null ? Object.entries(skill) : [['*', skill]];
  });
  return decisions.findLast(([pattern]) => {
    const parts = pattern.split('*').map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, String.raw`\$&`));
    return new RegExp(`^${parts.join('.*')}$`, 's').test(name);
  })?.[1];
}

/** A message says who wrote it, its parts what; a session with a parent is that of a subagent. */
function openReader(): (row: Row) => readonly TranscriptEvent[] | undefined {
  const children = new Set<string>();
  const messages = new Map<string, { readonly isUser: boolean; readonly model: string }>();
  return (row) => {
    const { table, id, session_id: session, message_id: message, time_created: created } = row;
    if (typeof id !== 'string') return undefined;
    if (table === 'session') {
      if (typeof row['parent_id'] === 'string') children.add(id);
      return [{ type: 'session', session: id, id, cwd: textIn(row['directory']), version: textIn(row['version']) }];
    }
    const data = parseObject(row['data']);
    if (data === undefined || typeof session !== 'string') return undefined;
    if (table === 'message') {
      const model = `${textIn(data['providerID']) ?? ''}/${textIn(data['modelID']) ?? ''}`;
      messages.set(id, { isUser: data['role'] === 'user', model });
      return [];
    }
    const by = messages.get(textIn(message) ?? '');
    const { type, text, synthetic } = data;
    if (type === 'text' && by?.isUser === true && !children.has(session) && synthetic !== true)
      return typeof text === 'string' ? [{ type: 'request', session, text, id, at: timeIn(created) }] : undefined;
    if (type === 'tool') return readSkillCall(data, session);
    if (type !== 'step-finish') return [];
    const { input, output, reasoning, cache } = objectIn(data['tokens']);
    const { read, write } = objectIn(cache);
    const [cached, written] = [countIn(read), countIn(write)];
    return [
      {
        type: 'tokens',
        session,
        id,
        model: by?.model,
        input: countIn(input) + cached + written,
        output: countIn(output) + countIn(reasoning),
        cached,
        written,
        usd: moneyIn(data['cost']),
      },
    ];
  };
}

function readSkillCall({ tool, callID, state }: Row, session: string): readonly TranscriptEvent[] {
  const { status, input, output } = objectIn(state);
  const skill = tool === 'skill' ? textIn(objectIn(input)['name']) : skillReadBy(tool, input);
  if (status !== 'completed' || skill === undefined || typeof callID !== 'string') return [];
  const text = /^<skill_content[^\n]*\n# Skill: [^\n]*\n\n([\s\S]*?)\n\nBase directory for this skill: /.exec(
    textIn(output) ?? '',
  )?.[1];
  return [{ type: 'load', session, id: callID, skill, byUser: false, text }];
}

function parseObject(value: unknown): Row | undefined {
  if (typeof value !== 'string') return undefined;
  try {
    const parsed: unknown = JSON.parse(value);
    return isObject(parsed) ? parsed : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A plugin that adds the answer to the message of the user. Tool calls are kept, because they say which skills are loaded. */
function pluginText(script: string): string {
  return `${askScript('opencode', script)}
export const Skillwright = async ({ directory }) => {
  const calls = new Map();
  return {
    'tool.execute.before': async ({ sessionID }, { args }) => {
      calls.set(sessionID, [...(calls.get(sessionID) ?? []), JSON.stringify(args)].slice(-200));
    },
    'chat.message': async ({ sessionID }, { message, parts }) => {
      const prompt = parts.flatMap((part) => (part.type === 'text' && !part.synthetic ? [part.text] : [])).join('\\n');
      const text = await ask({ cwd: directory, prompt, calls: calls.get(sessionID) ?? [] });
      if (text === '') return;
      const id = 'prt_' + Date.now().toString(16).padStart(12, '0') + Math.random().toString(36).slice(2, 12);
      parts.push({ id, sessionID, messageID: message.id, type: 'text', text, synthetic: true });
    },
  };
};
`;
}
