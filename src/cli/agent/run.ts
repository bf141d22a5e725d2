import path from 'node:path';

import { ACTIVATIONS } from '../../agent/activation.ts';
import type { AgentOptions } from '../../agent/agent-options.ts';
import { isSkillError } from '../../core/errors.ts';
import type { SkillError } from '../../core/errors.ts';
import { visibleJson } from '../../core/json/visible-json.ts';
import { VOCABULARY_NAMES } from '../../tools/vocabularies.ts';
import { takeOutputs } from '../../runtime/execution/take-outputs.ts';
import { endLines, statusOf } from './agent-outcome.ts';
import { AGENT_FLAGS } from './agent-flags.ts';
import { openApprover } from './approval.ts';
import { readBudget } from './budget.ts';
import { chooseModelAloud } from './choose-model.ts';
import { defineCommand } from '../command.ts';
import type { Invocation } from '../command.ts';
import { EXIT } from '../exit.ts';
import { openRuntime } from '../open-runtime.ts';
import { openRefusalWatch } from './refusal-watch.ts';
import { readRequest } from './request-text.ts';
import { runWithPrograms } from './run-with-programs.ts';
import { displayFor } from './show-agent.ts';

const PROTOCOLS = ['tools', 'actions'] as const;

const flags = {
  file: { type: 'string', value: 'FILE', path: true, about: 'read the request from FILE; - is stdin' },
  in: {
    type: 'string',
    multiple: true,
    value: 'FILE',
    path: true,
    about: 'give FILE with the request: it is brought to the workspace as inputs/NAME; may be repeated',
  },
  out: { type: 'string', value: 'DIR', path: true, about: 'copy what programs leave in out/ to DIR' },
  model: {
    type: 'string',
    value: 'NAME',
    about:
      'rules, ollama, anthropic/claude-sonnet-4-5, ...; auto looks for one: configuration, keys, local servers, rules',
  },
  protocol: {
    type: 'string',
    value: 'NAME',
    choices: PROTOCOLS,
    about: 'how the model acts: tools; or actions as JSON text',
  },
  vocabulary: { type: 'string', value: 'NAME', choices: VOCABULARY_NAMES, about: 'whose tools; skillwright' },
  activation: {
    type: 'string',
    value: 'NAME',
    choices: ACTIVATIONS,
    about: 'how skills come up: model; shortlist and forced search first',
  },
  budget: {
    type: 'string',
    multiple: true,
    value: 'NAME=N,...',
    about: 'turns, toolCalls, scriptRuns, contextTokens, tokens, wallMs; such as turns=5,tokens=50000',
  },
  ...AGENT_FLAGS,
} as const;

type RunInvocation = Invocation<typeof flags>;

export const command = defineCommand({
  usage: 'run [REQUEST] [--in FILE] [--out DIR] [--skill NAME] [--model NAME] [--budget NAME=N] [--yes]',
  details: [
    'Works on a request with skills until it is answered, a budget ends, or it cannot go on. The request is the words given, --file, or',
    'stdin. What the model asks for is judged by the rules and done in a sandbox; scripts and writes need your yes, or --yes. The answer',
    'goes to stdout, everything else to stderr. With --json: one JSON object a line, an event each, and the result as the last one.',
    'Without a key, a configured model or a local server it is the rule model, which is no language model; see docs/agent.md.',
    'Exit status 1: failed, or ended by a budget; 3: a rule or a person refused what it came to; 4: the model that was named cannot be',
    'had, or the executor; 130: interrupted, with the record closed.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright run "What is in this CSV file?" --in orders.csv --yes', 'with whatever model there is'],
    ['skillwright run "What is in this CSV file?" --in orders.csv --model rules --yes', 'with no model at all'],
    ['skillwright run --file task.md --model anthropic --budget turns=8 --out results', 'a task, and its files back'],
    ['git diff | skillwright run --skill text-diff --json > events.jsonl', 'the request from a pipe, events as lines'],
  ],
  positionals: [0, Number.POSITIVE_INFINITY],
  async run(invocation) {
    const { flags: given, positionals, terminal, signal, words } = invocation;
    const request = await readRequest({ words: positionals, file: given.file, cwd: cwdOf(invocation), signal });
    const budget = readBudget(given.budget ?? []);
    const runtime = await openRuntime(invocation);
    const chosen = await chooseModelAloud({ name: given.model, runtime, signal }, terminal);
    const display = displayFor(invocation.flags, invocation.terminal);
    const refusals = openRefusalWatch(words);
    const copied: string[] = [];
    const lost: SkillError[] = [];
    const result = await runWithPrograms(
      {
        ...agentOptions(invocation),
        runtime,
        model: chosen.model,
        request,
        budget,
        signal,
        beforeEnd: async (session) => {
          if (given.out === undefined) return;
          try {
            copied.push(...(await takeOutputs(session, path.resolve(cwdOf(invocation), given.out))));
          } catch (error) {
            // The answer was paid for: it is shown all the same.
            if (!isSkillError(error)) throw error;
            lost.push(error);
          }
        },
        run: {
          host: {},
          approve: openApprover(given, terminal),
          sinks: [display.sink, refusals.sink],
        },
      },
      { executor: given.executor, terminal, cwd: cwdOf(invocation) },
    );
    const refused = refusals.last();
    const ended = statusOf(result, refused !== undefined);
    const status = lost.length > 0 && ended === EXIT.done ? EXIT.failed : ended;
    const errors = lost.map(({ code, message, hint }) => ({ code, message, hint }));
    if (given.json === true) {
      const last = {
        schema: 1,
        result: {
          ...result,
          model: chosen.model.id,
          reasonForModel: chosen.reason,
          copied,
          ...(errors.length > 0 ? { errors } : {}),
          status,
        },
      };
      terminal.out(visibleJson(JSON.stringify(last)));
    } else {
      display.end(result.answer);
      for (const line of endLines(result, copied)) terminal.remark(line);
    }
    for (const { message, hint } of errors)
      terminal.err(`${terminal.style('red', 'error')}: ${message}\n${terminal.style('dim', `hint: ${hint}`)}`);
    if (refused !== undefined) terminal.err(terminal.style('dim', `hint: ${refused.hint}`));
    return status;
  },
});

function cwdOf({ flags: given }: RunInvocation): string {
  return path.resolve(given.cwd ?? '.');
}

function agentOptions(
  invocation: RunInvocation,
): Pick<AgentOptions, 'protocol' | 'vocabulary' | 'activation' | 'required' | 'files'> {
  const { flags: given } = invocation;
  const protocol = PROTOCOLS.find((name) => name === given.protocol);
  const vocabulary = VOCABULARY_NAMES.find((name) => name === given.vocabulary);
  const activation = ACTIVATIONS.find((name) => name === given.activation);
  return {
    required: given.skill ?? [],
    files: (given.in ?? []).map((file) => path.resolve(cwdOf(invocation), file)),
    ...(protocol === undefined ? {} : { protocol }),
    ...(vocabulary === undefined ? {} : { vocabulary }),
    ...(activation === undefined ? {} : { activation }),
  };
}
