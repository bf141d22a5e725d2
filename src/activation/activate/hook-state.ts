import { statSync } from 'node:fs';

import { durationText, type Surroundings } from '#core';
import { expandFolder, openAgentFolders } from '#packs';
import { quietly, readTextFile } from '#platform';
import { AGENTS } from '../agents/agents.ts';
import type { Agent } from '../agents/agent.ts';
import { readSettings } from '../agent-view.ts';
import { checkFolder, hookFiles, hookFolder, readFailure } from '../hook/hook-folder.ts';
import { readRecords } from './activation-record.ts';
import { findHook } from './plan-change.ts';

interface HookState {
  readonly agent: string;
  readonly status: 'active' | 'blocked' | 'off' | 'not-trusted' | 'broken';
  readonly detail: string;
}

/** The state of the hook in each agent in use here, and why the last hook gave no answer, if one did not. */
export function hookStates(surroundings: Surroundings): readonly HookState[] {
  const { home } = surroundings;
  if (home === undefined) return [];
  const folder = hookFolder(home);
  const used = openAgentFolders(surroundings).used();
  const records = readRecords(folder);
  return AGENTS.filter(({ id }) => used.has(id) || records.some(({ agent }) => agent === id)).map((agent) => {
    const state = { agent: agent.id, ...stateOf(agent, { ...surroundings, home, folder }) };
    const failure = state.status === 'off' ? undefined : readFailure(folder);
    if (failure?.text.startsWith(`${agent.id}: `) !== true) return state;
    const ago = durationText(Date.now() - failure.at.getTime());
    return {
      ...state,
      detail: `${state.detail}; last hook without an answer, ${ago} ago: ${failure.text.slice(agent.id.length + 2)}`,
    };
  });
}

interface StateContext extends Pick<Surroundings, 'cwd' | 'env'> {
  readonly home: string;
  readonly folder: string;
}

function stateOf(agent: Agent, { cwd, home, env, folder }: StateContext): Omit<HookState, 'agent'> {
  const broken = (why: string): Omit<HookState, 'agent'> => ({
    status: 'broken',
    detail: `${why}; run skillwright activate --agent ${agent.id}`,
  });
  try {
    const found = findHook(agent, { home, env });
    if (found === 'no') return { status: 'off', detail: `run skillwright activate --agent ${agent.id}` };
    if (found === 'old') return broken('the hook is not the one that this version writes');
  } catch (error) {
    if (error instanceof SyntaxError) return broken(`the settings are not JSON: ${error.message}`);
    throw error;
  }
  const problem = checkFolder(folder);
  if (problem !== undefined) return broken(problem);
  const { script } = hookFiles(folder);
  const program = /^program='(.+)'$/m.exec(textOf(script))?.[1]?.replaceAll(`'\\''`, "'");
  if (program === undefined) return broken(`${script} is missing`);
  if (quietly(() => statSync(program).isFile()) !== true) return broken(`${program} is missing`);
  if (agent.hook.userTrust !== undefined && !isTrusted(agent, { home, env }))
    return { status: 'not-trusted', detail: `it does not run before you trust it: open ${agent.hook.userTrust}` };
  const { blocked } = readSettings(agent, { cwd, home, env });
  return blocked === undefined
    ? { status: 'active', detail: 'active' }
    : { status: 'blocked', detail: `it runs no hooks: ${blocked}` };
}

/** Codex records trust in config.toml below a key that starts with the path of the file of the hook. */
function isTrusted({ hook, settings }: Agent, place: Pick<StateContext, 'home' | 'env'>): boolean {
  const file = expandFolder(hook.file, place) ?? '';
  return settings.some((name) =>
    textOf(expandFolder(name, place) ?? '')
      .split('\n')
      .some((line) => line.trimStart().startsWith(`[hooks.state.`) && line.includes(file)),
  );
}

function textOf(file: string): string {
  const read = readTextFile(file, 5_000_000);
  return read.type === 'read' ? read.text : '';
}
