/**
 * What an attempt was given, as digests by name. Two arms are compared only if they were given the same, except `skill NAME`: the list of
 * skills in the system text and the names of skills in tool schemas follow from it.
 */
import path from 'node:path';

import { defined, stableJson, type Model, type ModelRequest } from '#core';
import { sha256 } from '#platform';
import { hasFixedAnswer } from '../cases/asked-request.ts';
import { FIXED_ANSWER } from '../report/same-requests.ts';
import type { Runtime, Session } from '#runtime';
import type { EvalCase } from '../cases/case.ts';
import type { CaseResult } from '../report/result.ts';
import type { SkillSet } from './skill-set.ts';

export type Conditions = NonNullable<CaseResult['given']>;

interface AttemptConditions {
  readonly evalCase: EvalCase;
  readonly set: Pick<SkillSet, 'skills'>;
  /** Digests of the input files and checker scripts, in the order of the case. */
  readonly files: readonly string[];
  readonly executor: string;
  readonly timeoutMs: number;
  readonly model: string;
}

/** Conditions that are known before the attempt. */
export function listConditions({ evalCase, set, files, executor, timeoutMs, model }: AttemptConditions): Conditions {
  const { expect, limits, approve, config = {}, protocol = '', forbidTools } = evalCase;
  const [inputs, scripts] = [files.slice(0, evalCase.files.length), files.slice(evalCase.files.length)];
  // A checker is its content, wherever its file is.
  const output = expect.output?.map((check) => (check.type === 'checker' ? { ...check, script: '' } : check));
  const named = { ...expect, ...defined({ output }) };
  const names = evalCase.files.map((file) => path.basename(file));
  return {
    model: digest(model),
    workspace: digest([names, files, executor]),
    inputs: digest(inputs),
    expectations: digest([named, scripts]),
    ...(hasFixedAnswer(expect) ? { [FIXED_ANSWER]: 'yes' } : {}),
    budget: digest([limits, timeoutMs]),
    permissions: digest([approve, forbidTools]),
    configuration: digest([config, protocol]),
    ...Object.fromEntries(set.skills.map((skill) => [`skill ${skill.name}`, digest(skill.digest)])),
  };
}

/** Remembers the first request to a model, which has nothing that the model did in it. */
export function watchRequest(model: Model): { readonly model: Model; first(): ModelRequest | undefined } {
  let first: ModelRequest | undefined;
  return {
    first: () => first,
    model: {
      ...model,
      call(request, options) {
        first ??= request;
        return model.call(request, options);
      },
    },
  };
}

interface SeenRequest {
  readonly request: ModelRequest | undefined;
  readonly session: Pick<Session, 'catalog' | 'index'>;
  readonly runtime: Pick<Runtime, 'config'>;
  readonly project: string;
}

/** Conditions that the first request shows. Without one there are none, which is a difference to an arm with one. */
export function requestConditions({ request, session, runtime, project }: SeenRequest): Conditions {
  if (request === undefined) return {};
  const { system, messages, tools, answerSchema, maxOutputTokens } = request;
  const { catalog, index } = session;
  const names = new Set(index.all.map(({ name }) => name));
  const isSkillList = (value: unknown): boolean =>
    Array.isArray(value) && value.every((item) => typeof item === 'string' && names.has(item));
  const withoutSkills = (value: unknown): string =>
    JSON.stringify(value, (key, item: unknown) => (key === 'enum' && isSkillList(item) ? undefined : item)) ?? '';
  const here = (text: string): string => text.replaceAll(project, '/project');
  const text = here(system.replace(catalog.text, ''));
  // Skills may be granted tools by the configuration.
  const isGranting = (runtime.config.policy?.allowed_tools ?? 'restrict') !== 'restrict';
  const grants = isGranting ? index.all.flatMap(({ controls }) => controls.allowedTools ?? []) : [];
  return {
    'system prompt': digest(text.split('\n').filter((line) => answerSchema === undefined || !ACTION_LINE.test(line))),
    request: digest(messages.map((message) => [message.role, here(message.content)])),
    'answer format': digest([withoutSkills(answerSchema), maxOutputTokens ?? 0]),
    ...Object.fromEntries(tools.map((tool) => [`tool ${tool.name}`, digest(withoutSkills(tool))])),
    ...(grants.length === 0 ? {} : { 'allowed-tools': digest(grants) }),
  };
}

/** A line of the table of actions, which are compared by their schema. */
const ACTION_LINE = /^- \w+ \{/;

function digest(value: unknown): string {
  return sha256(stableJson(value)).slice(0, 16);
}
