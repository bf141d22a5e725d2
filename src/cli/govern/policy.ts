import { EXECUTOR_NAMES, printable, quoted, type Decision } from '#core';
import { capabilityLine } from '#policy';
import { AUTO_FLAG } from '../agent/approval.ts';
import { SANDBOX_FLAGS, sandboxOptions } from '../agent/programs.ts';
import { resolveSkill } from '#skills';
import { defineCommand, list, option } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Terminal } from '../terminal/terminal.ts';

const flags = {
  skill: list('NAME', 'decide as if this skill were active', { formerly: 'load', offers: 'skills' }),
  executor: option('NAME', 'decide about programs as if they ran with this executor (default: one that isolates)', {
    choices: ['auto', ...EXECUTOR_NAMES],
  }),
  ...SANDBOX_FLAGS,
  ...AUTO_FLAG,
} as const;

export const command = defineCommand({
  usage:
    'policy [TOOL [SUBJECT]] [--skill NAME] [--executor NAME] [--project ACCESS] [--mount DIR[:rw]] [--allow HOST] [--auto]',
  details: [
    'Without arguments: the rules in force, layer by layer. With a tool and a command, path or URL: the decision, the rule that makes it, and for programs what they reach outside their sandbox. Executes nothing.',
    'Exit code 0: allowed; 3: denied, or the user would be asked.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright policy', 'show all rules and their origin'],
    ['skillwright policy run_command "git log; rm -r build"', 'show whether a model may run this command'],
    ['skillwright policy run_command "git push" --allow github.com', 'the same, if programs may reach a host'],
    ['skillwright policy write_file docs/a.md --skill pdf', 'decide while the skill pdf is active'],
  ],
  positionals: [0, 2],
  async run(invocation) {
    const { flags: options, positionals, terminal, surroundings } = invocation;
    const runtime = await openRuntime(invocation);
    const active = (options.skill ?? []).map((name) => resolveSkill(runtime.index, name) ?? unknown(name));
    const [tool, subject] = positionals;
    const { explainPolicy } = await import('#runtime/explain-policy');
    const { layers, decide } = await explainPolicy(runtime, active);
    if (tool === undefined) {
      const { out, style } = terminal;
      if (terminal.printJson({ allowedTools: runtime.config.policy?.allowed_tools ?? 'restrict', layers }))
        return EXIT.done;
      for (const { origin, otherwise, rules } of layers) {
        const rest = Object.entries(otherwise).map(([risk, effect]) => `${risk} ${effect}`);
        out(style('bold', originText(origin)));
        for (const { effect, rule, origin: from } of rules)
          out(`  ${effect.padEnd(5)}  ${printable(rule)}  ${style('dim', originText(from))}`);
        out(`  ${style('dim', `otherwise: ${rest.join(', ')}`)}`);
      }
      return EXIT.done;
    }
    const { config } = runtime;
    const { mounts = [], network = config.execution?.network ?? [] } = sandboxOptions(invocation, config, true);
    const reach = {
      executor: options.executor ?? config.execution?.executor,
      writes: mounts.flatMap(({ folder, access }) => (access === 'write' ? [folder] : [])),
      hosts: network,
    };
    const decision = await decide({ surroundings, tool, subject, reach });
    if (!terminal.printJson({ decision })) terminal.out(decisionText(decision, terminal));
    return decision.effect === 'allow' ? EXIT.done : EXIT.refused;
  },
});

function unknown(name: string): never {
  throw usageError(`unknown skill ${quoted(name, 200)}`, 'see skillwright list');
}

function originText({ layer, where }: Decision['origin']): string {
  return where === '' ? layer : `${layer} (${printable(where)})`;
}

function decisionText({ effect, reason, risk, capabilities }: Decision, { style }: Terminal): string {
  const color = { allow: 'green', ask: 'yellow', deny: 'red' } as const;
  const line = `${style(color[effect], effect)}  ${reason} (${risk} risk)`;
  return capabilities === undefined ? line : `${line}\n${printable(capabilityLine(capabilities))}`;
}
