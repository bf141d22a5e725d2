import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { runAgent } from '../../src/agent/agent.ts';
import type { AgentOptions, AgentResult } from '../../src/agent/agent-options.ts';
import { readRun } from '../../src/journal/journal-reader.ts';
import type { RunEvent } from '../../src/core/run-events.ts';
import type { Finish, Model, ModelAnswer, ModelRequest, ModelUsage } from '../../src/core/model.ts';
import { splitIntoDeltas } from '../../src/model/emit.ts';
import { createRuntime, type Runtime } from '../../src/runtime/runtime.ts';
import { scratch, writeSkill, type SkillText } from '../skills/registry/support.ts';

/** One answer of a model that plays a part. */
export interface Line {
  readonly text?: string;
  readonly calls?: readonly (readonly [name: string, input: unknown])[];
  readonly finish?: Finish;
  readonly usage?: ModelUsage;
}

export interface PlayedModel extends Model {
  readonly requests: readonly ModelRequest[];
}

/** A model that gives these answers one after the other; a function sees the request. More requests than answers are an error. */
export function played(
  lines: readonly (Line | Error | ((request: ModelRequest) => Line | Promise<Line>))[],
  contextWindow?: number,
): PlayedModel {
  const requests: ModelRequest[] = [];
  return {
    id: 'played',
    contextWindow,
    requests,
    async call(request, { signal, onDelta }) {
      signal.throwIfAborted();
      const line = lines[requests.push(request) - 1];
      if (line === undefined) throw new Error(`no answer is left for request ${String(requests.length)}`);
      if (line instanceof Error) throw line;
      const answer = answerOf(typeof line === 'function' ? await line(request) : line, requests.length);
      if (onDelta !== undefined) for (const delta of splitIntoDeltas(answer, [5])) onDelta(delta);
      return answer;
    },
  };
}

export function answerOf({ text = '', calls = [], finish, usage = {} }: Line, turn: number): ModelAnswer {
  const toolCalls = calls.map(([name, input], place) => ({
    id: `call-${String(turn)}-${String(place)}`,
    name,
    input: typeof input === 'string' ? input : JSON.stringify(input),
  }));
  return { text, toolCalls, finish: finish ?? (toolCalls.length > 0 ? 'tool-calls' : 'stop'), usage, retries: 0 };
}

/** An action of the structured protocol as a model writes it. */
export function acting(type: string, payload: object, more: object = {}): Line {
  return { text: JSON.stringify({ action: { type, payload }, ...more }) };
}

export interface World {
  readonly root: string;
  readonly project: string;
  readonly runtime: Runtime;
  /** Runs an agent that may run programs and use files, and asks nobody. */
  readonly agent: (options: Partial<AgentOptions> & Pick<AgentOptions, 'model'>) => Promise<AgentResult>;
}

type SkillFiles = SkillText & { readonly files?: Readonly<Record<string, string>> };

/** A project with these skills, and a home of its own. */
export async function world(
  skills: Readonly<Record<string, SkillFiles>> = REPORT,
  config: object = {},
): Promise<World> {
  const root = scratch();
  const project = path.join(root, 'project');
  for (const folder of [project, path.join(root, 'home')]) mkdirSync(folder);
  for (const [name, { files = {}, ...skill }] of Object.entries(skills)) {
    const folder = path.join(root, 'skills', name);
    writeSkill(folder, skill);
    for (const [file, content] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      writeFileSync(path.join(folder, file), content, { mode: 0o755 });
    }
  }
  const runtime = await createRuntime({
    cwd: project,
    home: path.join(root, 'home'),
    env: {},
    roots: [path.join(root, 'skills')],
    onlyRoots: true,
    cache: false,
    config,
  });
  return {
    root,
    project,
    runtime,
    agent: (options) =>
      runAgent({
        runtime,
        request: 'count the rows',
        ...options,
        run: { execution: { executor: 'local', artifacts: false }, ...options.run },
      }),
  };
}

/** A skill with a script and a reference. */
export const REPORT: Readonly<Record<string, SkillFiles>> = {
  report: {
    description: 'Counts rows of a table. Use it for reports.',
    body: '# Report\n\nRun scripts/count.sh. canary-report-body\n',
    files: {
      'scripts/count.sh': '#!/bin/sh\necho "rows: 42 $*"\n',
      'references/kpi.md': '# KPI\n\ncanary-report-kpi\n',
    },
  },
  other: { description: 'Does other things. Use it for others.', body: '# Other\n\ncanary-other-body\n' },
};

export function eventsOf({ path: folder = '' }: Pick<AgentResult, 'path'>): readonly RunEvent[] {
  return [...readRun(folder).lines].map(({ event }) => event);
}

export function ofType<Type extends RunEvent['type']>(
  events: readonly RunEvent[],
  type: Type,
): readonly Extract<RunEvent, { readonly type: Type }>[] {
  return events.filter((event): event is Extract<RunEvent, { readonly type: Type }> => event.type === type);
}

export function allText({ system, messages }: ModelRequest): string {
  return [system, ...messages.map(({ content }) => content)].join('\n');
}
