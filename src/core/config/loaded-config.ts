import type { Diagnostic } from '../diagnostic.ts';
import { SkillError } from '../errors.ts';
import { printable } from '../text/text.ts';
import type { Config } from './config.ts';
import type { Profile } from '../profile.ts';
import type { PolicyConfig } from './policy-config.ts';

/** Later layers override earlier ones. The project file may override only as `project-override-rules.ts` allows. */
const CONFIG_LAYERS = ['built-in', 'vocabulary', 'user', 'project', 'environment', 'option'] as const;

type ConfigLayerName = (typeof CONFIG_LAYERS)[number];

interface LayerValue {
  readonly layer: ConfigLayerName;
  /** Empty for built-in values. */
  readonly where: string;
  readonly value: unknown;
}

/** A value in effect, its source, and the values it overrides. */
interface ExplainedValue extends LayerValue {
  /** For example `catalog.budget_tokens` or `skill_visibility.pdf`. */
  readonly key: string;
  /** Other layers whose entries are merged into the value. */
  readonly also: readonly LayerValue[];
  readonly overridden: readonly LayerValue[];
}

/** Where a runtime runs. Code below the runtime reads these values and not the environment of Node. */
export interface Surroundings {
  readonly cwd: string;
  /** Absent when there is no home folder. */
  readonly home: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The policy section of one configuration layer. The user's layers may open rights; the project's may only restrict them. */
interface LayerPolicy {
  readonly layer: 'user' | 'environment' | 'option' | 'project';
  readonly where: string;
  readonly policy: PolicyConfig;
}

export interface LoadedConfig {
  /** All layers merged, without the project's rules. */
  readonly config: Config;
  /** The policy of each layer with its origin; included files are resolved. */
  readonly policies: readonly LayerPolicy[];
  /** The entries of `execution.require_approval_for` in effect, with the layer that wrote them; the user's layers come first. */
  readonly requiredApprovals?: readonly (Pick<LayerPolicy, 'layer' | 'where'> & { readonly rule: string })[];
  /** What the vocabulary sets beside its tools and settings; narrowed, if a project chose it. */
  readonly profile: Profile;
  /** What the project's file says about skills: it applies to skills of the project, where the user's layers say nothing, and hides others. */
  readonly forOwnSkills: Pick<Config, 'skill_visibility' | 'packages'>;
  /** The files that were looked for, highest priority first. */
  readonly files: readonly { readonly path: string; readonly status: 'used' | 'absent' | 'invalid' }[];
  readonly diagnostics: readonly Diagnostic[];
  /** Absolute folders from `skill_roots`, by the layer that named them: those of a project need trust. */
  readonly namedRoots: { readonly own: readonly string[]; readonly project: readonly string[] };
  /** True if a file or variable could not be used. Its rules are unknown, so only reading may be allowed. */
  readonly isBroken: boolean;
  /** Explains where each value comes from and what it overrides. */
  readonly explain: () => Promise<readonly ExplainedValue[]>;
}

const BREAKING: ReadonlySet<string> = new Set([
  'config/invalid',
  'config/unknown-key',
  'config/environment',
  'policy/include',
]);

/** Why a configuration with these diagnostics allows only reading: the first file or variable that cannot be used. */
export function configProblem(diagnostics: readonly Diagnostic[]): SkillError<'config/invalid'> | undefined {
  const found = diagnostics.find(({ code }) => BREAKING.has(code));
  if (found === undefined) return undefined;
  const { code, path, line, message, hint } = found;
  const place = code === 'config/environment' ? printable(path) : `${printable(path)}:${String(line)}`;
  return new SkillError({
    code: 'config/invalid',
    message: `the configuration is invalid, so only reading is allowed: ${place}: ${message}`,
    hint: `${hint}; skillwright config lists all problems`,
    data: { path },
  });
}
