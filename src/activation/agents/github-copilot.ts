import { compareText } from '#core';
import { byName, type Agent, type AgentSkill, type Catalog, type Shown } from './agent.ts';
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

/** Entries with a description end before this; the first that does not fit ends them, even if a later one would fit. */
const MAX_ENTRIES = 15_000;
/** The names of the others end before this. */
const MAX_NAMES = 5000;
const NAMES_START = 'Additional skills available (invoke by name): ';
const EVERYWHERE = { depth: Number.POSITIVE_INFINITY } as const;
const PROJECT = { ...EVERYWHERE, isInParents: true } as const;
const sort = byName(compareText);

/* oxlint-disable no-template-curly-in-string -- `${NAME:-path}` is the notation of folders. */
export const GITHUB_COPILOT: Agent = {
  id: 'github-copilot',
  checkedVersion: '1.0.102',
  folders: [
    { path: '.github/skills', ...PROJECT },
    { path: '.agents/skills', ...PROJECT },
    { path: '.claude/skills', ...PROJECT },
    { path: '${COPILOT_HOME:-~/.copilot}/skills', ...EVERYWHERE },
    { path: '~/.agents/skills', ...EVERYWHERE },
  ],
  sameName: 'first',
  projectTrust: 'trust the folder in Copilot CLI',
  settings: ['${COPILOT_HOME:-~/.copilot}/settings.json'],
  readSkill(file) {
    const reading = readByRules(file, {
      invalidYaml: 'reject',
      withoutFrontmatter: 'reject',
      name: 'field-or-folder',
      maxName: 64,
      withoutDescription: 'body',
      emptyDescription: 'accept',
      maxDescription: 1024,
      otherTypes: 'reject',
      hidesManual: true,
    });
    return reading.type === 'rejected' ? reading : { ...reading, name: reading.name.replaceAll(/\s+/g, '-') };
  },
  visibility: ({ name }, settings) =>
    settings.some(({ disabledSkills: names }) => Array.isArray(names) && names.includes(name)) ? 'hidden' : 'listed',
  listSkills: (skills) => listWithin(orderByFolder(skills)),
  transcript: {
    folder: '${COPILOT_HOME:-~/.copilot}/session-state',
    files: /\/events\.jsonl$/,
    open: () => readLine,
  },
  hook: {
    type: 'file',
    file: '${COPILOT_HOME:-~/.copilot}/hooks/skillwright.json',
    content: ({ command }) =>
      `${JSON.stringify({ version: 1, hooks: { userPromptSubmitted: [{ type: 'command', bash: command, timeoutSec: 2 }] } }, undefined, 2)}\n`,
    answer: (text) => ({ additionalContext: text }),
    transcript: (sessionId) => `\${COPILOT_HOME:-~/.copilot}/session-state/${sessionId}/events.jsonl`,
  },
};

/* oxlint-enable no-template-curly-in-string */

/** By name within a folder; folders stay in their order. */
function orderByFolder(skills: readonly AgentSkill[]): readonly AgentSkill[] {
  return [...new Set(skills.map(({ folder }) => folder))].flatMap((folder) =>
    sort(skills.filter((skill) => skill.folder === folder)),
  );
}

function listWithin(skills: readonly AgentSkill[]): Catalog {
  let entries = 0;
  let names = NAMES_START.length;
  const shown = skills.map((skill): Shown => {
    entries += entryLength(skill);
    if (entries <= MAX_ENTRIES) return 'full';
    names += (names === NAMES_START.length ? 0 : ', '.length) + skill.name.length;
    return names <= MAX_NAMES ? 'name' : 'none';
  });
  return {
    entries: skills.map((skill, at) => ({
      skill,
      shown: shown[at] ?? 'none',
      text: shown[at] === 'full' ? skill.description : '',
    })),
    budget: { limit: MAX_ENTRIES, unit: 'characters', own: 0, from: 'fixed' },
  };
}

function entryLength({ name, description, scope }: AgentSkill): number {
  const fields = `  <name>${escape(name)}</name>\n  <description>${escape(description)}</description>\n  <location>${scope}</location>`;
  return `<skill>\n${fields}\n</skill>\n`.length;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

function readLine({ type, data, id, timestamp }: Row): readonly TranscriptEvent[] | undefined {
  if (typeof type !== 'string') return undefined;
  const value = objectIn(data);
  if (type === 'session.start') {
    const { sessionId, copilotVersion, context } = value;
    const cwd = textIn(objectIn(context)['cwd']);
    return [{ type: 'session', id: textIn(sessionId), version: textIn(copilotVersion), cwd }];
  }
  if (type === 'user.message') {
    const text = textIn(value['content']);
    return text === undefined ? undefined : [{ type: 'request', text, id: textIn(id), at: timeIn(timestamp) }];
  }
  if (type === 'skill.invoked') {
    const { name, content, trigger } = value;
    if (typeof name !== 'string' || typeof id !== 'string') return undefined;
    return [{ type: 'load', id, skill: name, text: textIn(content), byUser: trigger !== 'agent-invoked' }];
  }
  if (type === 'tool.execution_start') {
    const { toolCallId: call, toolName, arguments: input } = value;
    const skill = skillReadBy(toolName, input);
    return skill === undefined || typeof call !== 'string' ? [] : [{ type: 'call', id: call, skill }];
  }
  if (type === 'tool.execution_complete' && typeof value['toolCallId'] === 'string')
    return [{ type: 'result', id: value['toolCallId'], ok: value['success'] === true }];
  if (type !== 'session.usage_record') return [];
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, cost, model, modelProvider } = objectIn(
    value['usage'],
  );
  const [cached, written] = [countIn(cacheReadTokens), countIn(cacheWriteTokens)];
  return [
    {
      type: 'tokens',
      id: textIn(id),
      model: `${textIn(modelProvider) ?? ''}/${textIn(model) ?? ''}`,
      input: countIn(inputTokens),
      output: countIn(outputTokens),
      cached,
      written,
      usd: moneyIn(cost),
    },
  ];
}
