/** Explains the policy: the rules in force, and the decision about an action that is not performed. */
import {
  isOfKind,
  isProblem,
  namedIsolation,
  type Action,
  type Decision,
  type Offer,
  type SkillEntry,
  type Surroundings,
} from '#core';
import {
  decideAccesses,
  fileAccesses,
  type FileSubject,
  listAccesses,
  ownName,
  policyWithSkills,
  type Access,
  type Policy,
} from '#policy';
import { realPath } from '#platform';
import { resolvePath } from '#project';
import { resolveSkill } from '#skills';
import { otherNames, type ProgramFacts } from './decide-action.ts';
import { isIgnoredFile } from './find-target.ts';
import type { Runtime } from './runtime.ts';
import { openSecrets } from './secrets/secrets.ts';
import type { Session } from './session.ts';
import { listResourcePlaces, openSkillPlaces } from './skill-places.ts';

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

const FILE_TOOLS: ReadonlySet<string> = new Set(['read_file', 'list_dir', 'grep', 'write_file', 'delete_file']);
/** Tools that need approval to read what git ignores. */
const IGNORING_TOOLS: ReadonlySet<Action['type']> = new Set(['read_file', 'edit_file', 'grep'] as const);
const PROGRAMS: ReadonlySet<string> = new Set(['run_command', 'run_script']);

interface ExplainedPolicy {
  /** The rules in force. */
  readonly layers: readonly ShownLayer[];
  readonly decide: (options: ExplainOptions) => Promise<Decision>;
}

/** The policy of a session in which these skills are active. */
export async function explainPolicy(runtime: Runtime, active: readonly SkillEntry[]): Promise<ExplainedPolicy> {
  const { allowed_tools: allowedTools = 'restrict', sandboxed = 'ask' } = runtime.config.policy ?? {};
  const session = await runtime.startSession({ host: {} });
  await session.close();
  const policyFor = (skills: readonly SkillEntry[]): Policy =>
    policyWithSkills({ policy: session.policy, allowedTools }, skills);
  return {
    layers: policyFor(active).layers.map(({ origin, otherwise, rules }) => ({
      origin,
      otherwise,
      rules: rules.map((rule) => ({ effect: rule.effect, rule: rule.text, origin: rule.origin })),
    })),
    decide: async ({ surroundings, tool, subject, reach }) => {
      const action = subject === undefined ? undefined : toAction(tool, subject, session, active);
      const named =
        action !== undefined && 'skill' in action ? resolveSkill(session.index, action.skill ?? '') : undefined;
      // A skill that an action names narrows the policy, as in a call.
      const involved = named === undefined || active.some(({ id }) => id === named.id) ? active : [...active, named];
      const secrets = openSecrets(runtime.config.secrets ?? {}, surroundings);
      const program = PROGRAMS.has(ownName(tool))
        ? programFacts(reach, (named === undefined ? active : [named]).flatMap(secrets.namesFor))
        : {};
      const accesses =
        action === undefined
          ? await nameAccesses(ownName(tool), subject, surroundings.cwd)
          : await actionAccesses(action, { skill: named, active, cwd: surroundings.cwd, program });
      return decideAccesses(policyFor(involved), accesses, { program, askedBy: 'model', sandboxed });
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

/** The action of a call with this subject; undefined for what no action is for, such as `use_network`. */
function toAction(
  tool: string,
  subject: string,
  { vocabulary, offer }: Pick<Session, 'vocabulary' | 'offer'>,
  active: readonly SkillEntry[],
): Action | undefined {
  const name = ownName(tool);
  const row = FILE_TOOLS.has(name) ? vocabulary.tools.find((each) => each.name === tool) : undefined;
  // The tool of the vocabulary knows which files are those of a skill, or of the workspace.
  const loaded = (): ReturnType<Offer['loaded']> =>
    active.map(({ id, name: skill }) => ({ id, name: skill, files: [] }));
  const called = row?.toActions({ path: subject, file: subject, pattern: '' }, { ...offer, loaded });
  if (called !== undefined && !isProblem(called) && called[0] !== undefined) return called[0];
  const { skill, path } = offer.locate(subject) ?? { skill: subject, path: '' };
  switch (name) {
    case 'run_command':
      return { type: name, command: subject };
    case 'run_script': {
      const cut = subject.indexOf('/');
      const [owner, script] = cut === -1 ? [subject, ''] : [subject.slice(0, cut), subject.slice(cut + 1)];
      return { type: name, skill: owner, script, args: [] };
    }
    case 'network_request':
      return { type: name, url: subject.includes('://') ? subject : `https://${subject}` };
    case 'read_file':
    case 'list_dir':
    case 'delete_file':
      return { type: name, path: subject };
    case 'grep':
      return { type: name, path: subject, pattern: '' };
    case 'write_file':
      return { type: name, path: subject, content: '' };
    case 'load_skill':
      return { type: name, skill: subject };
    case 'read_resource':
      return { type: name, skill, path };
    case 'list_resources':
      return { type: name, skill, folder: path };
    case 'select_documents':
      return { type: name, skill, mode: 'add', documents: path === '' ? [] : [path] };
    case 'get_script_path':
      return { type: name, skill, script: path };
    default:
      return undefined;
  }
}

interface ExplainContext {
  readonly skill: SkillEntry | undefined;
  readonly active: readonly SkillEntry[];
  readonly cwd: string;
  readonly program: ProgramFacts;
}

async function actionAccesses(
  action: Action,
  { skill, active, cwd, program }: ExplainContext,
): Promise<readonly Access[]> {
  const place = isOfKind(action, 'host') && 'path' in action ? await findPlace(action, cwd, active) : undefined;
  const accesses = await listAccesses(action, {
    skill,
    isLoaded: active.some(({ id }) => id === skill?.id),
    files: skill === undefined ? undefined : listResourcePlaces(action, skill, cwd),
    place,
    ...program,
  });
  return [...accesses, ...otherNames(accesses, realPath(cwd))];
}

/** What no action is for: capabilities, host inputs, tools of servers. */
async function nameAccesses(tool: string, subject: string | undefined, cwd: string): Promise<readonly Access[]> {
  if (tool !== 'host_input' || subject === undefined) return [{ tool, subject: { kind: 'none' } }];
  const place = (await findPlace({ type: 'read_file', path: subject }, cwd, [])) ?? { shown: subject };
  const accesses = fileAccesses(tool, { ...place, isIgnored: false });
  return [...accesses, ...otherNames(accesses, realPath(cwd))];
}

/** Resolves a path like the project tools do, because rules match resolved paths. A path outside the project is matched as written. */
async function findPlace(
  { type, path }: { readonly type: Action['type']; readonly path: string },
  cwd: string,
  active: readonly SkillEntry[],
): Promise<FileSubject | undefined> {
  const places = { project: cwd, skills: active };
  // Only what exists can be read, and only a file that may not exist yet can be written.
  const placed = (['read', 'write'] as const)
    .map((purpose) => resolvePath(path, places, purpose))
    .find((resolved) => resolved.type === 'resolved');
  if (placed === undefined) return undefined;
  const { shown, absolute } = placed;
  const isIgnored = IGNORING_TOOLS.has(type) && (await isIgnoredFile(placed));
  const names = openSkillPlaces(active, cwd)({ absolute, isInProject: placed.place === 'project' });
  return { shown, absolute, isIgnored, ...names };
}
