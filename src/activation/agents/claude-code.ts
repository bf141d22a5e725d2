import { textWidth } from '#platform';
import { answerEvent, type Agent, type AgentSkill, type Catalog, type CatalogContext, type Settings } from './agent.ts';
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

/** Columns that the skills of version 2.1.327 itself take, with their line breaks; they are never shortened. */
const OWN_WIDTH = 6042;
/** Commands of its own that come last and get a description only if room is left. */
const OWN_COMMANDS = ['init', 'security-review'].map((name) => textWidth(`- ${name}\n`) + 1);
const WINDOW = 200_000;
const CHARACTERS_PER_TOKEN = 4;
const FRACTION = 0.01;
const MAX_DESCRIPTION = 1536;
/** Written by administrators. */
const MANAGED =
  process.platform === 'darwin'
    ? '/Library/Application Support/ClaudeCode/managed-settings.json'
    : '/etc/claude-code/managed-settings.json';

/* oxlint-disable no-template-curly-in-string -- `${NAME:-path}` is the notation of folders. */
export const CLAUDE_CODE: Agent = {
  id: 'claude-code',
  checkedVersion: '2.1.327',
  folders: [
    { path: '${CLAUDE_CONFIG_DIR:-~/.claude}/skills', withHidden: true },
    { path: '.claude/skills', isInParents: true, withHidden: true },
  ],
  sameName: 'first',
  settings: [
    '${CLAUDE_CONFIG_DIR:-~/.claude}/settings.json',
    '.claude/settings.json',
    '.claude/settings.local.json',
    MANAGED,
  ],
  readSkill(file) {
    const reading = readByRules(file, {
      invalidYaml: 'lines',
      openQuote: 'no-fields',
      withoutFrontmatter: 'body',
      name: 'folder',
      withoutDescription: 'body',
      otherTypes: 'text',
      hidesManual: true,
      hidesPaths: true,
    });
    if (reading.type !== 'skill') return reading;
    const { name: field, when_to_use: when } = file.fields ?? {};
    const name = typeof field === 'string' || typeof field === 'number' ? String(field) : file.folder;
    const text = typeof when === 'string' ? `${reading.description} - ${when}` : reading.description;
    const other = name === file.folder ? '' : ` (${name})`;
    return { ...reading, name: `${file.folder}${other}`, description: escape(text.trim().replaceAll(/\s+/g, ' ')) };
  },
  visibility({ name }, settings) {
    const choice = settings
      .map(({ skillOverrides }) => fieldOf(skillOverrides, name))
      .findLast((one) => one !== undefined);
    if (choice === 'off' || choice === 'user-invocable-only') return 'hidden';
    return choice === 'name-only' ? 'name' : 'listed';
  },
  listSkills: listWithin,
  transcript: {
    folder: '${CLAUDE_CONFIG_DIR:-~/.claude}/projects',
    files: /\.jsonl$/,
    open: () => readLine,
  },
  hook: {
    type: 'entry',
    file: '${CLAUDE_CONFIG_DIR:-~/.claude}/settings.json',
    event: 'UserPromptSubmit',
    timeout: 2,
    blockedBy(files) {
      const managed = files.at(-1);
      if (managed?.['disableAllHooks'] === true || managed?.['allowManagedHooksOnly'] === true)
        return `${MANAGED} allows no hooks of users`;
      const choice = files.map((one) => one?.['disableAllHooks']).findLast((one) => one !== undefined);
      return choice === true ? 'disableAllHooks is true in its settings' : undefined;
    },
    answer: answerEvent('UserPromptSubmit'),
  },
};
/* oxlint-enable no-template-curly-in-string */

function escape(text: string): string {
  return text.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
}

function numberIn(settings: Settings, name: string): number | undefined {
  const value = settings.map((one) => one[name]).findLast((one) => one !== undefined);
  return typeof value === 'number' && value > 0 ? value : undefined;
}

/** All names are always listed. What is left of the budget goes to descriptions in the order of the list; one that does not fit is left out. */
function listWithin(found: readonly AgentSkill[], { env, settings, contextWindow }: CatalogContext): Catalog {
  const skills = orderByFolder(found);
  const fixed = Number(env['SLASH_COMMAND_TOOL_CHAR_BUDGET']);
  const window = contextWindow ?? WINDOW;
  const fraction = numberIn(settings, 'skillListingBudgetFraction') ?? FRACTION;
  const limit = fixed > 0 ? fixed : Math.floor(window * CHARACTERS_PER_TOKEN * fraction);
  const maxText = numberIn(settings, 'skillListingMaxDescChars') ?? MAX_DESCRIPTION;
  const own = isBundledDisabled(env) ? 0 : OWN_WIDTH + OWN_COMMANDS.reduce((sum, width) => sum + width, 0);
  let used = skills.reduce((sum, { name }) => sum + textWidth(`- ${name}`) + 1, own - 1);
  const entries = skills.map((skill): Catalog['entries'][number] => {
    const text = cut(skill.description, maxText);
    const isShown = skill.isNameOnly !== true && text !== '' && used + textWidth(`: ${text}`) <= limit;
    if (!isShown) return { skill, shown: 'name', text: '' };
    used += textWidth(`: ${text}`);
    return { skill, shown: text === skill.description ? 'full' : 'shortened', text };
  });
  const from =
    fixed > 0
      ? 'SLASH_COMMAND_TOOL_CHAR_BUDGET'
      : `${String(fraction * 100)} % of a window of ${window.toLocaleString('en-US')} tokens`;
  return { entries, budget: { limit, unit: 'columns', own, from } };
}

function isBundledDisabled(env: CatalogContext['env']): boolean {
  return /^(?:1|true)$/i.test(env['CLAUDE_CODE_DISABLE_BUNDLED_SKILLS'] ?? '');
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

function orderByFolder(skills: readonly AgentSkill[]): readonly AgentSkill[] {
  return [...new Set(skills.map(({ folder }) => folder))].flatMap((folder) =>
    skills.filter((skill) => skill.folder === folder).toSorted((a, b) => a.name.localeCompare(b.name)),
  );
}

/** Lines of other types, such as attachments and titles, do not matter. A prompt of a subagent was not written by the user. */
function readLine(line: Row): readonly TranscriptEvent[] | undefined {
  const { type, message, isSidechain, uuid, cwd, version, sessionId } = line;
  if (typeof type !== 'string') return undefined;
  if (type !== 'user' && type !== 'assistant') return [];
  const { content } = objectIn(message);
  if (typeof content !== 'string' && !Array.isArray(content)) return undefined;
  const session: TranscriptEvent = {
    type: 'session',
    id: textIn(sessionId),
    cwd: textIn(cwd),
    version: textIn(version),
  };
  if (type === 'assistant') return [session, ...readAnswer(objectIn(message))];
  const results = listIn(content).flatMap(({ type: kind, tool_use_id: id, is_error: isError }): TranscriptEvent[] =>
    kind === 'tool_result' && typeof id === 'string' ? [{ type: 'result', id, ok: isError !== true }] : [],
  );
  const text = joinTexts(content);
  if (line['isMeta'] === true) {
    const call = textIn(line['sourceToolUseID']);
    return [
      session,
      ...(call === undefined ? [] : [{ type: 'text' as const, id: call, text: afterIntroduction(text) }]),
    ];
  }
  if (results.length > 0 || isSidechain === true || line['isCompactSummary'] === true) return [session, ...results];
  const request: TranscriptEvent = { type: 'request', text, id: textIn(uuid), at: timeIn(line['timestamp']) };
  const command = /^<command-(?:name|message)>/.test(text)
    ? /<command-name>\/?([^<]+)<\/command-name>/.exec(text)?.[1]
    : undefined;
  if (command === undefined)
    return /^<(?:local-command|bash)-/.test(text) ? [session] : text === '' ? [session] : [session, request];
  const load: TranscriptEvent = { type: 'load', id: textIn(uuid) ?? '', skill: command, byUser: true };
  return [session, { ...request, text: '' }, load];
}

function readAnswer({ id, model, usage, content }: Row): readonly TranscriptEvent[] {
  const calls = listIn(content).flatMap(({ type, name, input, id: call }): TranscriptEvent[] => {
    const skill = name === 'Skill' ? textIn(objectIn(input)['skill']) : skillReadBy(name, input);
    return type === 'tool_use' && skill !== undefined && typeof call === 'string'
      ? [{ type: 'call', id: call, skill }]
      : [];
  });
  const { input_tokens: input, output_tokens: output, ...cache } = objectIn(usage);
  const cached = countIn(cache['cache_read_input_tokens']);
  const written = countIn(cache['cache_creation_input_tokens']);
  return [
    ...calls,
    {
      type: 'tokens',
      id: textIn(id),
      model: `anthropic/${textIn(model) ?? ''}`,
      input: countIn(input) + cached + written,
      output: countIn(output),
      cached,
      written,
    },
  ];
}
