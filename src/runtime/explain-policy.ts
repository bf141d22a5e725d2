/** Explains the policy: the rules in force, and the decision about an action that is not performed. */
import { type Decision, type SkillEntry, type Surroundings, namedIsolation } from '#core';
import { decideAccesses, listAccesses, ownName, policyWithSkills, type ProgramFacts, type Access } from '#policy';
import { realPath } from '#platform';
import { resolvePath } from '#project';
import { otherNames } from './decide-action.ts';
import { isIgnoredFile } from './find-target.ts';
import type { Runtime } from './runtime.ts';
import { openSecrets } from './secrets/secrets.ts';

interface ShownLayer {
  readonly origin: Decision['origin'];
  /** The effect by risk where no rule matches. */
  readonly otherwise: Readonly<Record<string, string>>;
  readonly rules: readonly { readonly effect: string; readonly rule: string; readonly origin: Decision['origin'] }[];
}

interface ExplainOptions {
  readonly surroundings: Surroundings;
  readonly tool: string;
  /** A command, path, address, skill, or `SKILL/SCRIPT`. */
  readonly subject: string | undefined;
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

interface ExplainedPolicy {
  /** The rules in force. */
  readonly layers: readonly ShownLayer[];
  readonly decide: (options: ExplainOptions) => Promise<Decision>;
}

/** The policy of a session in which these skills are active. */
export async function explainPolicy(runtime: Runtime, active: readonly SkillEntry[]): Promise<ExplainedPolicy> {
  const { allowed_tools: allowedTools = 'restrict', sandboxed = 'ask' } = runtime.config.policy ?? {};
  const session = await runtime.startSession();
  const policy = policyWithSkills({ policy: session.policy, allowedTools }, active);
  await session.close();
  return {
    layers: policy.layers.map(({ origin, otherwise, rules }) => ({
      origin,
      otherwise,
      rules: rules.map((rule) => ({ effect: rule.effect, rule: rule.text, origin: rule.origin })),
    })),
    decide: async ({ surroundings, tool, subject, reach }) => {
      const name = ownName(tool);
      const secrets = openSecrets(runtime.config.secrets ?? {}, surroundings);
      const program = PROGRAMS.has(name) ? programFacts(reach, active.flatMap(secrets.namesFor)) : {};
      const accesses = await accessesFor(name, subject, { cwd: surroundings.cwd, program });
      return decideAccesses(policy, accesses, { program, askedBy: 'model', sandboxed });
    },
  };
}

/** What a program would reach in this session. */
function programFacts({ executor, writes, hosts }: ExplainOptions['reach'], secrets: readonly string[]): ProgramFacts {
  return {
    // `auto` uses an executor that isolates.
    isolation: namedIsolation(executor) ?? 'bubblewrap',
    writes,
    hosts,
    secrets,
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
