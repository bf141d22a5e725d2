import type { Config } from './config/config.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { Placement } from './session.ts';

/**
 * What a vocabulary sets beside its tools, so that one setting makes a project of that system run here. The values are in
 * `src/tools/profiles.ts`, one entry for each system.
 *
 * To add a behaviour:
 *
 * 1. If a setting of the configuration controls it, add the value to `settings` of the entry. Nothing else has to be written.
 * 2. Otherwise add an optional field here, with a comment that says what the absent field means, and the value to the entry. The code
 *    that needs it reads `profile` of the loaded configuration or of the runtime, in a session by `chooseProfile` of `#tools/profiles`.
 *    Compare fields, never the name of a vocabulary, so that a custom vocabulary can have the behaviour too.
 *
 * A cloned project can choose the vocabulary, and must gain nothing by it: its `settings` are narrowed like settings of its own file, and
 * `narrowProfile` narrows the fields that could offer, scan or tolerate more. Add a field there that could.
 */
export interface Profile {
  /** Defaults of the system. They override our defaults, and every other layer of the configuration overrides them. */
  readonly settings?: ProfileSettings;
  /** Where agents put loaded instructions if nothing sets `session.placement` (default: `tool-results`). Loops of others choose by the option. */
  readonly agentPlacement?: Placement;
  /** What is loaded without a call of the model, such as `--skill`, is the whole SKILL.md, as its load tool returns it (default: the body). */
  readonly loadsWholeFile?: true;
  /** Skills that an agent loads in one turn (default: 2). */
  readonly loadsPerTurn?: number;
  /** Offers the tools that run programs where the caller does not say (default: only if asked). Rules and approvals apply as ever. */
  readonly offersPrograms?: true;
  /** Folders of a project in which the system keeps skills, relative, highest priority first. They need trust as others of a project do. */
  readonly projectFolders?: readonly string[];
  /**
   * The system has one root: what `roots`, `--root`, `SKILLS_ROOT` or `skill_roots` of the project name, and `DOCUMENT_ROOT/skills` if the
   * variable is set and this is `document-root`. Where nothing is named, it is the first of `projectFolders` that exists, from the working
   * directory up (default: all of these are used).
   */
  readonly oneRoot?: 'document-root' | 'project';
  /**
   * What a SKILL.md of the system must not have: such a skill is in no list, and loading it by its folder gives the reason (default:
   * whatever can be read is used).
   */
  readonly unusable?: readonly Diagnostic['code'][];
  /** What of this keeps a skill out of the lists only: by the name of its folder it can be loaded (default: nothing). */
  readonly unlisted?: readonly Diagnostic['code'][];
  /** Only folders of a root are skills: a SKILL.md in the root itself does not count (default: it makes the root a skill). */
  readonly rootIsNoSkill?: true;
  /**
   * Which of several folders of one root has the name that they all declare: `first-path`, or with `folder` none, each is called like its
   * folder (default: the one that changed last).
   */
  readonly sameNames?: 'first-path' | 'folder';
  /**
   * Fields that say when and where a skill runs and that the system does not know: its skills are as if they lacked them. `run-mode` stands
   * for `context: fork` too (default: all are followed). No field that takes rights away can be named.
   */
  readonly ignoredFields?: readonly ('run-mode' | 'paths')[];
  /** Diagnostics that keep their lenient severity in strict mode and leave no skill out, because the system has no such rule (default: none). */
  readonly tolerates?: readonly Diagnostic['code'][];
  /** Every write to the project is of high risk, so that `--yes` approves none (default: edits that git can undo are of low risk). */
  readonly writesAreHighRisk?: true;
  /** How a model acts unless the caller says: by tool calls (default) or by structured actions in its text. */
  readonly protocol?: 'tools' | 'actions';
  /** Where `install` and `new` put skills, relative to the project or the home folder (default: `.agents/skills`). `user` is scanned too. */
  readonly installFolder?: { readonly project: string; readonly user?: string };
}

/** Without rules and approvals, which only people write. */
type ProfileSettings = Pick<
  Config,
  'builtin' | 'use_default_roots' | 'scan' | 'format' | 'catalog' | 'session' | 'sandbox' | 'packages' | 'security'
> & { readonly execution?: Omit<NonNullable<Config['execution']>, 'require_approval_for'> };
