import path from 'node:path';

import { compareText } from '#core';
import { answerEvent, type Agent, type AgentSkill, type Catalog, type CatalogContext } from './agent.ts';
import { aliasCost, allocateCharacters, lineCost } from './codex-budget.ts';
import { readByRules } from './skill-rules.ts';
import {
  countIn,
  joinTexts,
  listIn as rowsIn,
  objectIn,
  skillOfPath,
  textIn,
  timeIn,
  type Row,
  type TranscriptEvent,
} from './transcript.ts';

const MAX_DESCRIPTION = 1024;
const WINDOW_PERCENT = 2;
/** The context window of gpt-5, and of models that Codex does not know. */
const WINDOW = 272_000;
/** More is not accepted in `skills.max_context_tokens`. */
const MAX_CONFIGURED = 10_000;
const EVERYWHERE = { depth: 6, isInsideSkills: true } as const;

/* oxlint-disable no-template-curly-in-string -- `${NAME:-path}` is the notation of folders. */
export const CODEX: Agent = {
  id: 'codex',
  checkedVersion: '0.169.0',
  folders: [
    { path: '.codex/skills', isInParents: true, ...EVERYWHERE },
    { path: '${CODEX_HOME:-~/.codex}/skills', ...EVERYWHERE },
    { path: '~/.agents/skills', ...EVERYWHERE },
    { path: '${CODEX_HOME:-~/.codex}/skills/.system', ...EVERYWHERE },
    { path: '.agents/skills', isInParents: true, ...EVERYWHERE },
  ],
  sameName: 'all',
  settings: ['${CODEX_HOME:-~/.codex}/config.toml'],
  companion: 'agents/openai.yaml',
  readSkill(file, companion) {
    const reading = readByRules(file, {
      invalidYaml: 'lines',
      openQuote: 'reject',
      withoutFrontmatter: 'reject',
      isMarkRejected: true,
      name: 'field-or-folder',
      maxName: 64,
      withoutDescription: 'reject',
      otherTypes: 'text',
    });
    if (reading.type !== 'skill') return reading;
    if (/^\s+allow_implicit_invocation:\s*false\b/m.test(companion))
      return { type: 'hidden', name: reading.name, reason: 'agents/openai.yaml says allow_implicit_invocation: false' };
    return { ...reading, name: oneLine(reading.name), description: oneLine(reading.description) };
  },
  visibility({ name, path: file }, settings) {
    const rows = settings.flatMap((one) => listIn(tableIn(one['skills'])['config']));
    const places = [file, path.dirname(file)];
    const row = rows.findLast((one) => one['name'] === name || places.some((place) => place === one['path']));
    return row?.['enabled'] === false ? 'hidden' : 'listed';
  },
  listSkills: listWithin,
  transcript: { folder: '${CODEX_HOME:-~/.codex}/sessions', files: /\/rollout-[^/]*\.jsonl$/, open: openReader },
  hook: {
    type: 'entry',
    file: '${CODEX_HOME:-~/.codex}/hooks.json',
    event: 'UserPromptSubmit',
    timeout: 2,
    userTrust: '/hooks in Codex',
    answer: answerEvent('UserPromptSubmit'),
  },
};
/* oxlint-enable no-template-curly-in-string */

function tableIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

function listIn(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.map(tableIn) : [];
}

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}

/** Codex writes its own skills into a folder of the user. */
function isSystem(skill: AgentSkill | undefined): boolean {
  return skill?.folder.endsWith('/.system') === true;
}

function rankScope(skill: AgentSkill): number {
  return isSystem(skill) ? 0 : skill.scope === 'project' ? 1 : 2;
}

/**
 * Two percent of the context window for the lines. Everything in full if it fits; else descriptions are shortened to equal lengths; if even
 * names do not fit, descriptions go and lines that do not fit are left out. A line has the path, with an alias such as `r0` for its folder.
 */
function listWithin(found: readonly AgentSkill[], { contextWindow, settings }: CatalogContext): Catalog {
  const skills = found.toSorted(
    (a, b) => rankScope(a) - rankScope(b) || compareText(a.name, b.name) || compareText(a.path, b.path),
  );
  const aliases = new Map(
    [...new Set(found.map(({ folder }) => folder))].map((folder, at) => [folder, `r${String(at)}`]),
  );
  const lines = skills.map(({ name, description, path: file, folder }) => ({
    name,
    description: cutCharacters(description, MAX_DESCRIPTION),
    locator: `${aliases.get(folder) ?? ''}${file.slice(folder.length)}`,
  }));
  const configured = settings
    .map((one) => tableIn(one['skills'])['max_context_tokens'])
    .findLast((one) => one !== undefined);
  const window = contextWindow ?? WINDOW;
  const limit =
    typeof configured === 'number'
      ? Math.min(configured, MAX_CONFIGURED)
      : Math.max(1, Math.floor((window * WINDOW_PERCENT) / 100));
  const lengths = allocateCharacters(lines, limit - aliasCost([...aliases.keys()]));
  const entries = skills.map((skill, at) => {
    const length = lengths[at];
    const text = [...(lines[at]?.description ?? '')].slice(0, length ?? 0).join('');
    if (length === undefined) return { skill, shown: 'none' as const, text };
    if (text === skill.description) return { skill, shown: 'full' as const, text };
    return { skill, shown: text === '' ? ('name' as const) : ('shortened' as const), text };
  });
  const own = lines.reduce((sum, line, at) => (isSystem(skills[at]) ? sum + lineCost(line) : sum), 0);
  const from =
    typeof configured === 'number'
      ? 'skills.max_context_tokens'
      : `${String(WINDOW_PERCENT)} % of a window of ${window.toLocaleString('en-US')} tokens`;
  return {
    entries: [...entries.filter(({ shown }) => shown !== 'none'), ...entries.filter(({ shown }) => shown === 'none')],
    budget: { limit, unit: 'tokens', own, from },
  };
}

function cutCharacters(text: string, length: number): string {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 3).join('')}...`;
}

/** The model names a turn, and the tokens of its steps do not. */
function openReader(): (line: Row) => readonly TranscriptEvent[] | undefined {
  let provider = 'openai';
  let model = '';
  return ({ type, payload, timestamp }) => {
    if (typeof type !== 'string') return undefined;
    const value = objectIn(payload);
    if (type === 'session_meta') {
      provider = textIn(value['model_provider']) ?? provider;
      const { id, cwd, cli_version: version } = value;
      return [{ type: 'session', id: textIn(id), cwd: textIn(cwd), version: textIn(version) }];
    }
    if (type === 'turn_context') {
      model = textIn(value['model']) ?? model;
      return [{ type: 'session', cwd: textIn(value['cwd']) }];
    }
    if (type === 'event_msg') return value['type'] === 'token_count' ? readTokens(value, `${provider}/${model}`) : [];
    return type === 'response_item' ? readItem(value, timeIn(timestamp)) : [];
  };
}

/** Text in tags that Codex adds itself. */
const ADDED =
  /^\s*(?:<(?:environment_context|user_instructions|skill|turn_aborted|user_shell_command)\b|# AGENTS\.md instructions)/;

function readItem(value: Row, at: number): readonly TranscriptEvent[] | undefined {
  const { type, role, content, id, call_id: call, output } = value;
  if (typeof type !== 'string') return undefined;
  if (type === 'message') {
    if (!Array.isArray(content)) return undefined;
    const text =
      role === 'user' ? joinTexts(rowsIn(content).filter((one) => !ADDED.test(textIn(one['text']) ?? ''))) : '';
    return text === '' ? [] : [{ type: 'request', text, id: textIn(id), at }];
  }
  if (typeof call !== 'string') return [];
  if (type === 'function_call') {
    const skill = readsSkill(textIn(value['arguments']) ?? '');
    return skill === undefined ? [] : [{ type: 'call', id: call, skill }];
  }
  if (type !== 'function_call_output') return [];
  const text = textIn(output) ?? '';
  const ok = /^Process exited with code 0$/m.test(text) || /"exit_code":\s*0\b/.test(text);
  return [{ type: 'result', id: call, ok, text: text.replace(/^[\s\S]*?\nOutput:\n/, '') }];
}

/** The skill whose SKILL.md a command reads; a command that only names the file loads nothing. */
function readsSkill(written: string): string | undefined {
  if (!written.includes('SKILL.md')) return undefined;
  const command = /(?:cat|head|tail|sed|less|more|nl|bat|type|Get-Content)\b[^|;&<>]*SKILL\.md/.exec(
    written.replaceAll('\\"', '"'),
  )?.[0];
  return command === undefined ? undefined : skillOfPath(command);
}

function readTokens({ info }: Row, model: string): readonly TranscriptEvent[] {
  const { input_tokens: input, output_tokens: output, ...cache } = objectIn(info, 'last_token_usage');
  if (typeof input !== 'number') return [];
  const cached = countIn(cache['cached_input_tokens']);
  const written = countIn(cache['cache_write_input_tokens']);
  return [{ type: 'tokens', model, input: countIn(input), output: countIn(output), cached, written }];
}
