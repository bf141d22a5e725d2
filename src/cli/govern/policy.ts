import type { Access, Decision } from '../../core/access.ts';
import { EXECUTOR_NAMES } from '../../core/execution.ts';
import type { SkillEntry } from '../../core/skill.ts';
import { accessesOf, hostAccess, readCommand } from '../../policy/action-access.ts';
import type { AccessFacts } from '../../policy/action-access.ts';
import { capabilityLine } from '../../policy/capability-text.ts';
import { openSecrets } from '../../runtime/secrets/secrets.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { AUTO_FLAG } from '../agent/approval.ts';
import { SANDBOX_FLAGS, sandboxOptions } from '../agent/sandbox-flags.ts';
import { ownName } from '../../policy/policy-rule.ts';
import { resolveSkill } from '../../registry/resolve-skill.ts';
import { printable, quoted } from '../../core/text/text.ts';
import { defineCommand } from '../command.ts';
import type { Invocation } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { surroundingsFor } from '../surroundings.ts';
import { jsonText } from '../json.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { resolvePath } from '../../project/resolve-path.ts';

const flags = {
  load: {
    type: 'string',
    multiple: true,
    value: 'SKILL',
    about: 'decide as if this skill were active; may be repeated',
  },
  executor: {
    type: 'string',
    value: 'NAME',
    choices: ['auto', ...EXECUTOR_NAMES],
    about: 'decide about programs as if they ran with this executor (default: one that isolates)',
  },
  ...SANDBOX_FLAGS,
  ...AUTO_FLAG,
} as const;

export const command = defineCommand({
  usage:
    'policy [TOOL [SUBJECT]] [--load SKILL] [--executor NAME] [--project ACCESS] [--mount DIR[:rw]] [--allow HOST] [--auto]',
  details: [
    'Without arguments: the rules in force, layer by layer. With a tool and a command, path or URL: the decision, the rule that makes it, and for programs what they reach outside their sandbox. Executes nothing.',
    'Exit code 0: allowed; 3: denied, or the user would be asked.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright policy', 'show all rules and their origin'],
    ['skillwright policy run_command "git log; rm -r build"', 'show whether a model may run this command'],
    ['skillwright policy run_command "git push" --allow github.com', 'the same, if programs may reach a host'],
    ['skillwright policy write_file docs/a.md --load pdf', 'decide while the skill pdf is active'],
  ],
  positionals: [0, 2],
  async run(invocation) {
    const { flags: given, positionals, terminal } = invocation;
    const runtime = await openRuntime(invocation);
    const active = (given.load ?? []).map((name) => resolveSkill(runtime.index, name) ?? unknown(name));
    const session = await runtime.startSession();
    const [tool, subject] = positionals;
    const { policyWithSkills } = await import('../../runtime/decide-action.ts');
    const meaning = runtime.config.policy?.allowed_tools ?? 'restrict';
    const policy = policyWithSkills({ policy: session.policy, allowedTools: meaning }, active);
    await session.close();
    if (tool === undefined) {
      const layers = policy.layers.map(({ origin, otherwise, rules }) => ({
        origin,
        otherwise,
        rules: rules.map((rule) => ({ effect: rule.effect, rule: rule.text, origin: rule.origin })),
      }));
      if (given.json === true) terminal.out(jsonText({ allowedTools: meaning, layers }));
      else for (const layer of layers) showLayer(layer, terminal);
      return EXIT.done;
    }
    const { decideAccesses } = await import('../../runtime/decide-action.ts');
    const { cwd } = surroundingsFor(given);
    const name = ownName(tool);
    const program = PROGRAMS.has(name) ? programFacts(invocation, runtime, active) : {};
    const accesses = await accessesFor(name, subject, { cwd, program });
    const sandboxed = runtime.config.policy?.sandboxed ?? 'ask';
    const decision = decideAccesses(policy, accesses, { program, askedBy: 'model', sandboxed });
    if (given.json === true) terminal.out(jsonText({ decision }));
    else terminal.out(decisionText(decision, terminal));
    return decision.effect === 'allow' ? EXIT.done : EXIT.refused;
  },
});

function unknown(name: string): never {
  throw new UsageError(`unknown skill ${quoted(name, 200)}`, 'see skillwright list');
}

const PATH_TOOLS: ReadonlySet<string> = new Set([
  'read_file',
  'list_dir',
  'grep',
  'write_file',
  'delete_file',
  'host_input',
]);

const PROGRAMS: ReadonlySet<string> = new Set(['run_command', 'run_script']);

type ProgramFacts = Pick<AccessFacts, 'isolation' | 'writes' | 'hosts' | 'secrets'>;

/** What a program would reach with these flags and this configuration. */
function programFacts(
  { flags: given }: Invocation<typeof flags>,
  { config }: Runtime,
  active: readonly SkillEntry[],
): ProgramFacts {
  const surroundings = surroundingsFor(given);
  const { cwd } = surroundings;
  const secrets = openSecrets(config.secrets ?? {}, surroundings);
  const { mounts = [], network = config.execution?.network ?? [] } = sandboxOptions(given, {
    config,
    cwd,
    isAgent: true,
  });
  const executor = given.executor ?? config.execution?.executor;
  return {
    isolation: executor === 'local' ? 'none' : executor === 'landlock' ? 'landlock' : 'bubblewrap',
    writes: mounts.flatMap(({ folder, access }) => (access === 'write' ? [folder] : [])),
    hosts: network,
    secrets: active.flatMap(({ name, source, controls: { requires = [] } }) =>
      secrets.namesFor({ name, source, requires }),
    ),
  };
}

async function accessesFor(
  tool: string,
  subject: string | undefined,
  { cwd, program }: { readonly cwd: string; readonly program: ProgramFacts },
): Promise<readonly Access[]> {
  if (subject === undefined) return [{ tool, subject: { kind: 'none' } }];
  if (tool === 'run_command') {
    const line = await readCommand({ command: subject });
    return accessesOf({ type: 'run_command', command: subject }, { ...program, line });
  }
  if (tool === 'run_script') {
    const cut = subject.indexOf('/');
    const [skill, script] = cut === -1 ? [subject, ''] : [subject.slice(0, cut), subject.slice(cut + 1)];
    return accessesOf({ type: 'run_script', skill, script, args: [] }, program);
  }
  if (PATH_TOOLS.has(tool)) return [{ tool, subject: pathSubject(subject, cwd) }];
  if (tool === 'network_request') return [hostAccess(subject, 'GET')];
  if (tool === 'load_skill') return [{ tool, subject: { kind: 'skill', id: subject, name: subject } }];
  return [{ tool, subject: { kind: 'none' } }];
}

/** Resolves a path like the project tools do, because rules match resolved paths. A path outside the project is matched as written. */
function pathSubject(subject: string, cwd: string): Access['subject'] {
  const placed = resolvePath(subject, { project: cwd, skills: [] }, 'write');
  return placed.type === 'resolved'
    ? { kind: 'path', path: placed.shown, absolute: placed.absolute }
    : { kind: 'path', path: subject };
}

interface ShownLayer {
  readonly origin: Decision['origin'];
  readonly otherwise: Readonly<Record<string, string>>;
  readonly rules: readonly { readonly effect: string; readonly rule: string; readonly origin: Decision['origin'] }[];
}

function showLayer({ origin, otherwise, rules }: ShownLayer, { out, style }: Terminal): void {
  const rest = Object.entries(otherwise).map(([risk, effect]) => `${risk} ${effect}`);
  out(style('bold', originText(origin)));
  for (const { effect, rule, origin: from } of rules)
    out(`  ${effect.padEnd(5)}  ${printable(rule)}  ${style('dim', originText(from))}`);
  out(`  ${style('dim', `otherwise: ${rest.join(', ')}`)}`);
}

function originText({ layer, where }: Decision['origin']): string {
  return where === '' ? layer : `${layer} (${printable(where)})`;
}

function decisionText({ effect, reason, risk, capabilities }: Decision, { style }: Terminal): string {
  const color = { allow: 'green', ask: 'yellow', deny: 'red' } as const;
  const line = `${style(color[effect], effect)}  ${reason} (${risk} risk)`;
  return capabilities === undefined ? line : `${line}\n${printable(capabilityLine(capabilities))}`;
}
