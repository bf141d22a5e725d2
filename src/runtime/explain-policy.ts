/** Explains the policy: the rules in force, and the decision about an action that is not performed. */
import type { Access, Decision, SkillEntry, Surroundings } from '#core';
import { decideAccesses, listAccesses, ownName, policyWithSkills, type Policy, type ProgramFacts } from '#policy';
import { realPath } from '#platform';
import { resolvePath } from '#project';
import { otherNames } from './decide-action.ts';
import { isIgnoredFile } from './find-target.ts';
import type { Runtime } from './runtime.ts';
import { openSecrets } from './secrets/secrets.ts';

/** The policy of a session in which these skills are active. */
async function policyWith(runtime: Runtime, active: readonly SkillEntry[]): Promise<Policy> {
  const session = await runtime.startSession();
  try {
    const allowedTools = runtime.config.policy?.allowed_tools ?? 'restrict';
    return policyWithSkills({ policy: session.policy, allowedTools }, active);
  } finally {
    await session.close();
  }
}

interface ShownLayer {
  readonly origin: Decision['origin'];
  /** The effect by risk where no rule matches. */
  readonly otherwise: Readonly<Record<string, string>>;
  readonly rules: readonly { readonly effect: string; readonly rule: string; readonly origin: Decision['origin'] }[];
}

/** The rules in force while these skills are active, layer by layer. */
export async function explainRules(runtime: Runtime, active: readonly SkillEntry[]): Promise<readonly ShownLayer[]> {
  const { layers } = await policyWith(runtime, active);
  return layers.map(({ origin, otherwise, rules }) => ({
    origin,
    otherwise,
    rules: rules.map((rule) => ({ effect: rule.effect, rule: rule.text, origin: rule.origin })),
  }));
}

interface ExplainOptions {
  readonly runtime: Runtime;
  readonly surroundings: Surroundings;
  readonly tool: string;
  /** A command, path, address, skill, or `SKILL/SCRIPT`. */
  readonly subject: string | undefined;
  readonly active: readonly SkillEntry[];
  /** What programs would reach outside their sandbox; `writes` are folders that they may change. */
  readonly reach: {
    readonly executor: string | undefined;
    readonly writes: readonly string[];
    readonly hosts: readonly string[];
  };
}

const PATH_TOOLS: ReadonlySet<string> = new Set([
  'read_file',
  'list_dir',
  'grep',
  'write_file',
  'delete_file',
  'host_input',
]);
/** Tools that need approval to read what git ignores. */
const IGNORING_TOOLS: ReadonlySet<string> = new Set(['read_file', 'grep']);
const PROGRAMS: ReadonlySet<string> = new Set(['run_command', 'run_script']);

export async function explainDecision(options: ExplainOptions): Promise<Decision> {
  const { runtime, surroundings, active, subject } = options;
  const name = ownName(options.tool);
  const program = PROGRAMS.has(name) ? programFacts(options) : {};
  const accesses = await accessesFor(name, subject, { cwd: surroundings.cwd, program });
  const sandboxed = runtime.config.policy?.sandboxed ?? 'ask';
  return decideAccesses(await policyWith(runtime, active), accesses, { program, askedBy: 'model', sandboxed });
}

/** What a program would reach in this session. */
function programFacts({ runtime, surroundings, active, reach }: ExplainOptions): ProgramFacts {
  const secrets = openSecrets(runtime.config.secrets ?? {}, surroundings);
  const { executor, writes, hosts } = reach;
  return {
    isolation: executor === 'local' ? 'none' : executor === 'landlock' ? 'landlock' : 'bubblewrap',
    writes,
    hosts,
    secrets: active.flatMap(secrets.namesFor),
  };
}

async function accessesFor(
  tool: string,
  subject: string | undefined,
  { cwd, program }: { readonly cwd: string; readonly program: ProgramFacts },
): Promise<readonly Access[]> {
  if (subject === undefined) return [{ tool, subject: { kind: 'none' } }];
  if (tool === 'run_command') return listAccesses({ type: 'run_command', command: subject }, program);
  if (tool === 'run_script') {
    const cut = subject.indexOf('/');
    const [skill, script] = cut === -1 ? [subject, ''] : [subject.slice(0, cut), subject.slice(cut + 1)];
    return listAccesses({ type: 'run_script', skill, script, args: [] }, program);
  }
  if (PATH_TOOLS.has(tool)) {
    const named = [{ tool, subject: await pathSubject(tool, subject, cwd) }];
    return [...named, ...otherNames(named, realPath(cwd))];
  }
  if (tool === 'network_request')
    return listAccesses({ type: 'network_request', url: subject.includes('://') ? subject : `https://${subject}` }, {});
  if (tool === 'load_skill') return [{ tool, subject: { kind: 'skill', id: subject, name: subject } }];
  return [{ tool, subject: { kind: 'none' } }];
}

/** Resolves a path like the project tools do, because rules match resolved paths. A path outside the project is matched as written. */
async function pathSubject(tool: string, subject: string, cwd: string): Promise<Access['subject']> {
  const placed = resolvePath(subject, { project: cwd, skills: [] }, 'write');
  if (placed.type !== 'resolved') return { kind: 'path', path: subject };
  const isIgnored = IGNORING_TOOLS.has(tool) && (await isIgnoredFile(placed));
  return { kind: 'path', path: placed.shown, absolute: placed.absolute, isIgnored };
}
