import type { ScanFile } from '#scan';
import type { LockedFile } from '../lock/lock-file.ts';
import type { PackRefusal } from '../problems.ts';
import type { TreeFingerprint, networkGate } from '#platform';
import type { openPlugin } from '#skills';
import type { ArchiveLimits } from '../archive-limits.ts';

/** Where skills come from. `source-text.ts` parses it. */
export type PackSource =
  | { readonly type: 'folder'; readonly path: string }
  | { readonly type: 'archive'; readonly path: string }
  /** The address of an archive or a SKILL.md. */
  | { readonly type: 'url'; readonly url: string }
  /** `folder`: a subfolder of the repository. `ref`: a branch, tag or commit (default: the default branch). */
  | { readonly type: 'git'; readonly url: string; readonly ref?: string; readonly folder?: string }
  /** `range`: a version, tag or range (default: `latest`). */
  | { readonly type: 'npm'; readonly name: string; readonly range?: string }
  /** A site with `/.well-known/agent-skills/index.json` or the older `/.well-known/skills/index.json`. */
  | { readonly type: 'well-known'; readonly url: string }
  /** A plugin that the `marketplace.json` of a folder or a repository lists. */
  | {
      readonly type: 'plugin';
      readonly name: string;
      readonly marketplace: Extract<PackSource, { type: 'folder' | 'git' }>;
    };

/** A source at the time it was staged: enough to get and verify the same bytes again. Contains no secrets. */
export interface ResolvedSource {
  /** Canonical text for `readSource`, without credentials. */
  readonly source: string;
  readonly kind: PackSource['type'];
  /** A commit or an exact version; absent if the source has none. */
  readonly revision?: string;
  /** `sha256:<hex>` of the original archive; absent for folders and git. */
  readonly archive?: string;
  /** Canonical text of the source elsewhere that the entry of a marketplace leads to: `revision` and `archive` are its. */
  readonly leadsTo?: string;
}

/** A folder of a source that contains a SKILL.md. */
export interface SourceSkill {
  /** Relative to the source, with `/` as separator; empty if the source itself is the skill. */
  readonly folder: string;
  /** Absolute path in the staging folder. Contains only regular files and folders with valid names. */
  readonly path: string;
  /** From the frontmatter, or the folder name if that has none. Not validated yet. */
  readonly name: string;
  /** `sha256-tree:<hex>` of the files at `path`. Present with `files` if the source hashed the bytes while writing them. */
  readonly digest?: string;
  readonly files?: Readonly<Record<string, LockedFile>>;
  /** Stat fingerprint after writing. */
  readonly looks?: TreeFingerprint;
  /** Contents that were kept while staging, so that the inspection need not read them again. Absent if they are too large. */
  readonly seen?: SkillContents;
  /** If each skill of the source has a signature of its own. */
  readonly signature?: SourceSignature;
  /** The folder is an Agent Plugin, which is installed as a whole. */
  readonly plugin?: StagedPlugin;
}

export type StagedPlugin = Exclude<ReturnType<typeof openPlugin>, string | undefined>;

/** A skill of a source that cannot be used. The other skills of the source are not affected. */
export interface UnusableSkill {
  /** Relative to the source. */
  readonly folder: string;
  /** The name in SKILL.md if it was read, otherwise the name of the folder. Untrusted. */
  readonly name: string;
  readonly refusal: PackRefusal;
}

export interface SkillContents {
  /** All files in the form that the scan expects, sorted by path. */
  readonly files: readonly ScanFile[];
  /** SKILL.md, if it is valid UTF-8. */
  readonly skillText?: string;
}

export interface SourceSignature {
  readonly of: 'archive' | 'manifest';
  readonly text: string;
  /** Absolute path of the signed file in the staging folder. */
  readonly payload: string;
}

export interface StagedSource {
  readonly type: 'staged';
  readonly resolved: ResolvedSource;
  /** Absolute path in the staging folder. */
  readonly folder: string;
  readonly skills: readonly SourceSkill[];
  /** Skills that were refused while they were staged. */
  readonly unusable: readonly UnusableSkill[];
  /** Files that were not staged, each with the reason, for the user. */
  readonly leftOut: readonly string[];
  /** Absolute path of manifest.json, if the source has one. */
  readonly manifest?: string;
  readonly signature?: SourceSignature;
  /** The lists of plugins in the source, with `withPlugins`. */
  readonly marketplaces?: Marketplaces;
  /** The source is an Agent Plugin, of which single skills are staged. */
  readonly isPlugin?: boolean;
}

/** What a source gives when it is staged; `stageSource` adds the rest. */
export type SourceContents = Pick<StagedSource, 'skills'> &
  Partial<
    Pick<StagedSource, 'folder' | 'unusable' | 'leftOut' | 'manifest' | 'signature' | 'marketplaces' | 'isPlugin'>
  > &
  Pick<ResolvedSource, 'revision' | 'archive' | 'leadsTo'>;

export interface Marketplace {
  /** Relative to the source. */
  readonly file: string;
  /** Entries that are objects with a name. The other fields are read when the plugin is wanted. */
  readonly plugins: readonly ListedPlugin[];
  /** Former names of plugins. */
  readonly renames: ReadonlyMap<string, string>;
  /** Folder of plugins whose source is a bare name. */
  readonly pluginRoot?: string;
}

export interface ListedPlugin {
  readonly name: string;
  /** Untrusted text; empty if the entry has none. */
  readonly description: string;
  readonly entry: Readonly<Record<string, unknown>>;
}

/** What a plugin of a marketplace consists of. */
export interface PluginChoice {
  readonly name: string;
  /** The folders that the marketplace lists, relative to the plugin; absent if the plugin decides. */
  readonly skills?: readonly string[];
}

export interface Marketplaces {
  readonly lists: readonly Marketplace[];
  /** Why a list cannot be read; the others are used. */
  readonly problem?: PackRefusal;
}

export interface EntryProblem {
  /** Relative to the archive. Untrusted. */
  readonly path: string;
  readonly refusal: PackRefusal;
}

/** Network rules and programs for remote sources. All fields are optional. */
export interface SourceNetwork {
  /** Allows `http://` and `git://` to other machines. */
  readonly allowHttp?: boolean;
  readonly allowPrivate?: boolean;
  readonly resolve?: NonNullable<Parameters<typeof networkGate>[0]['resolve']>;
  /** Additional certificate authorities in PEM format. */
  readonly certificates?: readonly string[];
  /** Paths of programs (default: from PATH). */
  readonly git?: string;
  readonly npm?: string;
  /** npm registry (default: npm's configuration). */
  readonly npmRegistry?: string;
  /** Timeout of one download or program (default: 5 minutes). */
  readonly timeoutMs?: number;
}

export interface StageProgress {
  readonly step: 'fetch' | 'unpack' | 'copy';
  readonly done?: number;
  readonly total?: number;
}

export interface StageOptions {
  /** An empty folder on the file system of the root. The caller removes it. */
  readonly to: string;
  readonly cwd: string;
  readonly home: string;
  readonly limits?: ArchiveLimits;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly offline?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: StageProgress) => void;
  /** From a lock: exactly this revision and archive. */
  readonly expect?: { readonly revision?: string; readonly archive?: string };
  /** Names of wanted skills. Some sources can skip the others. */
  readonly only?: readonly string[];
  readonly network?: SourceNetwork;
  /** Stages an Agent Plugin as one folder; a source that is none is refused. */
  readonly wholePlugin?: boolean;
  /** Also read which plugins the source lists; a source with plugins may have no skill. */
  readonly withPlugins?: boolean;
}

/** Options with defaults filled in. */
export interface StageContext extends StageOptions {
  readonly limits: ArchiveLimits;
  readonly network: SourceNetwork;
  /** Folder for the files of the source, inside `to`. Does not exist yet. */
  readonly tree: string;
  /** The source is this plugin of a marketplace (default: all skills of the source). */
  readonly plugin?: PluginChoice;
}
