import {
  cleanText,
  EXECUTOR_NAMES,
  invalidInput,
  isSkillError,
  nearest,
  parseJson,
  quoted,
  SkillError,
  type JsonSchema,
  withToolName,
} from '#core';
import { terminalSink } from '#journal';
import { whyNotOffered, type SkillTool } from '#tools';
import type { Terminal } from '../terminal/terminal.ts';
import { buildSkillTools, type Run, type RunOptions } from '#runtime';
import { VOCABULARY_FLAG } from './agent-flags.ts';
import { APPROVAL_FLAGS, AUTO_FLAG, openApprover, policyRefusal, repeatedCommand } from './approval.ts';
import { TRUST_FLAGS, askForTrust, trustCommands } from './consent.ts';
import { defineCommand, list, option, toggle } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { jsonText } from '../json.ts';
import { openRuntime, warnAboutConfig } from '../open-runtime.ts';
import { modelExecution } from './programs.ts';

const flags = {
  ...VOCABULARY_FLAG,
  skill: list('NAME', 'load this skill first', { formerly: 'load', offers: 'skills' }),
  executor: option(
    'NAME',
    'run programs with this executor; none offers no tool that runs programs (default: none; auto with --vocabulary trpc)',
    {
      choices: ['auto', 'none', ...EXECUTOR_NAMES],
    },
  ),
  log: option('LEVEL', 'print progress: quiet, normal or verbose (default: normal)', {
    choices: ['quiet', 'normal', 'verbose'],
  }),
  tools: toggle('list the tools and their parameters instead'),
  ...APPROVAL_FLAGS,
  ...AUTO_FLAG,
  ...TRUST_FLAGS,
} as const;

export const command = defineCommand({
  usage: 'call TOOL [INPUT] [--vocabulary NAME] [--skill NAME] [--yes] [--approve ID]',
  details: [
    'Calls one tool as a model would, with the same policy, approvals and record. INPUT is a JSON object. With --skill the skill is active and its allowed-tools apply.',
    'Exit code 3: refused by policy or by the user; the command that approves exactly this call is printed.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright call --tools', 'list the tools'],
    [`skillwright call load_skill '{"skill": "csv-report"}'`, 'load a skill'],
    [
      `skillwright call grep '{"pattern": "TODO", "path": "src"}' --vocabulary skills-agent`,
      'search the files of the project',
    ],
    [
      `skillwright call write_file '{"path": "notes.md", "content": "hello"}' --vocabulary skills-agent`,
      'write a file; asks first and shows the change',
    ],
    [
      `skillwright call run_script '{"skill": "pdf", "script": "fill.py"}' --executor auto --skill pdf`,
      'run a script while the skill pdf is active',
    ],
  ],
  positionals: [0, 2],
  async run(invocation) {
    const { flags: options, positionals, terminal, signal, words } = invocation;
    const [name, text] = positionals;
    const runtime = await openRuntime(invocation);
    warnAboutConfig(runtime, terminal);
    const { log: level = 'normal' } = options;
    const { executor } = options;
    const runsPrograms = executor === undefined ? runtime.profile.offersPrograms === true : executor !== 'none';
    const isListing = options.tools === true;
    if (!isListing && name === undefined)
      throw usageError('missing argument: TOOL', 'list the tools with skillwright call --tools');
    const input = parseInput(text);
    const untrusted = isListing ? [] : await askForTrust(invocation, runtime);
    const start = (execution: RunOptions['execution']): Promise<Run> =>
      runtime.startRun({
        request: `call ${positionals.join(' ')}`,
        host: {},
        approve: openApprover(invocation),
        execution,
        ...(isListing
          ? { directory: false }
          : {
              sinks: [terminalSink({ level, write: (line) => terminal.remark(line.trimEnd()), style: terminal.style })],
            }),
      });
    // Without an executor that was asked for, the tools that run nothing still work.
    const run = await start(
      runsPrograms ? modelExecution(terminal, executor === 'none' ? undefined : executor) : undefined,
    ).catch((error: unknown) => {
      if (options.executor !== undefined || !isSkillError(error) || error.code !== 'executor/unavailable') throw error;
      return start(undefined);
    });
    let outcome: 'done' | 'failed' | 'refused' = 'failed';
    try {
      const tools = buildSkillTools(run.session, runtime);
      if (isListing) {
        const listed = tools.tools.map(({ name: tool, description, inputSchema, parameters }) => ({
          name: tool,
          description,
          inputSchema,
          parameters,
        }));
        terminal.out(
          options.json === true
            ? jsonText({ tools: listed })
            : tools.tools.flatMap((tool) => toolLines(tool, terminal)),
        );
        if (executor === undefined) terminal.remark(NO_EXECUTOR);
        outcome = 'done';
        return EXIT.done;
      }
      const names = tools.tools.map((tool) => tool.name);
      if (name !== undefined && !names.includes(name)) {
        const { vocabulary, offer } = run.session;
        const reason = whyNotOffered(name, vocabulary, offer);
        // With a trusted skill, the tool would be offered and refuse the others.
        const isUntrusted = whyNotOffered(name, vocabulary, { ...offer, skills: ['any'] }) === undefined;
        if (reason !== undefined && isUntrusted && untrusted.length > 0) {
          outcome = 'refused';
          const data = { rule: 'skill/untrusted', approval: '', command: '' };
          throw new SkillError({ code: 'policy/refused', message: reason, hint: trustCommands(untrusted), data });
        }
        if (reason !== undefined)
          throw invalidInput(
            reason,
            names.join(', '),
            executor === undefined && offer.skills.length > 0
              ? NO_EXECUTOR
              : 'list the tools with skillwright call --tools',
          );
        const near = nearest(name, names);
        throw invalidInput(
          `unknown tool ${quoted(name, 200)}`,
          names.join(', '),
          near.length > 0 ? `did you mean ${near.join(', ')}?` : `known tools: ${names.join(', ')}`,
        );
      }
      for (const skill of options.skill ?? []) {
        const loaded = await run.session.perform({ type: 'load_skill', skill }, { askedBy: 'person', signal });
        if (loaded.type === 'failed')
          throw policyRefusal(loaded, repeatedCommand(words)) ?? usageError(loaded.message, loaded.hint);
      }
      const answer = await tools.call(name ?? '', input, { signal });
      const refused = answer.observations.find((one) => one.type === 'failed');
      const error =
        refused === undefined ? undefined : policyRefusal(withToolName(name, refused), repeatedCommand(words));
      outcome = error === undefined ? (answer.isError ? 'failed' : 'done') : 'refused';
      if (error !== undefined) throw error;
      terminal.out(
        options.json === true
          ? jsonText({
              tool: name,
              isError: answer.isError,
              result: answer.value,
              run: run.id,
              ...(untrusted.length > 0 ? { untrusted } : {}),
            })
          : cleanText(answer.text),
      );
      return answer.isError ? EXIT.failed : EXIT.done;
    } finally {
      await run.end(signal.aborted ? 'cancelled' : outcome);
    }
  },
});

const NO_EXECUTOR = 'tools that run programs are offered with --executor auto';

/** A tool with every parameter: name, type, whether it is required, and what it is for. */
function toolLines({ name, description, parameters }: SkillTool, { style, wrap }: Terminal): readonly string[] {
  const { properties, required = [] } = parameters;
  const width = Math.max(0, ...Object.keys(properties).map((key) => key.length));
  return [
    wrap(`${style('bold', name)}  ${description}`, 2),
    ...Object.entries(properties).map(([key, schema]) =>
      wrap(`  ${key.padEnd(width)}  ${parameterText(schema, required.includes(key))}`, width + 4),
    ),
  ];
}

function parameterText(schema: JsonSchema, isRequired: boolean): string {
  const { description = '' } = schema;
  const type = 'type' in schema ? (schema.type === 'array' ? 'list' : schema.type) : 'value';
  const initial = 'default' in schema ? ` (default: ${JSON.stringify(schema.default)})` : '';
  return `${type}${isRequired ? ', required' : ''}. ${description}${initial}`;
}

function parseInput(text = '{}'): unknown {
  const input = parseJson(text);
  if (input !== undefined) return input;
  throw usageError('INPUT is not valid JSON', `write one object, e.g. '{"path": "README.md"}'`);
}
