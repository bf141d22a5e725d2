import type { ScanFile } from '../scan/finding.ts';
import type { LockedFile } from '../lock/lock.ts';
import type { ArchiveLimits } from '../../core/archive-limits.ts';
import type { PackRefusal } from '../problems.ts';
import type { ResolveHost } from '../../platform/net/network-gate.ts';

/** Where skills come from, as a person names it, and what it turned out to be. Reading the text is in `source-text.ts`. */
export type PackSource =
  | { readonly type: 'folder'; readonly path: string }
  | { readonly type: 'archive'; readonly path: string }
  /** An archive or a SKILL.md behind an address. */
  | { readonly type: 'url'; readonly url: string }
  /** `folder`: a part of the repository. `ref`: a branch, a tag or a commit; the default branch where absent. */
  | { readonly type: 'git'; readonly url: string; readonly ref?: string; readonly folder?: string }
  /** `range`: an exact version, a tag or a range; the tag `latest` where absent. */
  | { readonly type: 'npm'; readonly name: string; readonly range?: string }
  /** A site with `/.well-known/agent-skills/index.json`, or the older `/.well-known/skills/index.json`. */
  | { readonly type: 'well-known'; readonly url: string };

/** What a source was when its bytes were taken: enough to get the same bytes again, and to see that they are the same. Never a secret. */
export interface ResolvedSource {
  /** Its one spelling, read again by `readSource`; without credentials, home folders as they were given. */
  readonly source: string;
  readonly kind: PackSource['type'];
  /** A commit, an exact version; absent where the source has none. */
  readonly revision?: string;
  /** `sha256:<hex>` of the archive as it came; absent for folders and git. */
  readonly archive?: string;
}

/** A folder of a source with a SKILL.md in it. */
export interface SourceSkill {
  /** Below the source, `/` between parts; empty where the source itself is the skill. */
  readonly folder: string;
  /** Absolute, inside the staging folder: regular files and folders only, judged by name. */
  readonly path: string;
  /** From the frontmatter; the folder's name where that has none. Not judged yet. */
  readonly name: string;
  /** `sha256-tree:<hex>` of what lies at `path`, and its files by path: where the bytes were hashed as they were written there. */
  readonly digest?: string;
  readonly files?: Readonly<Record<string, LockedFile>>;
  /** What it looked like from outside when its bytes had been written, as `looksOf` says it. */
  readonly looks?: string;
  /** What was seen of its bytes on the way, so that they need not be read again: absent where that would have been too much to keep. */
  readonly seen?: SkillContents;
}

export interface SkillContents {
  /** Every file as the scan reads it, sorted by path. */
  readonly files: readonly ScanFile[];
  /** SKILL.md, where it is UTF-8. */
  readonly skillText?: string;
}

export interface SourceSignature {
  readonly of: 'archive' | 'manifest';
  readonly text: string;
  /** What it signs: absolute, inside the staging folder. */
  readonly payload: string;
}

/** A source whose bytes are here. */
export interface StagedSource {
  readonly type: 'staged';
  readonly resolved: ResolvedSource;
  /** Absolute, inside the staging folder. */
  readonly folder: string;
  readonly skills: readonly SourceSkill[];
  /** What was not taken, and why: `.git`, editor files, links that stay inside. For people. */
  readonly leftOut: readonly string[];
  /** Absolute paths, where the source has them. */
  readonly manifest?: string;
  /** A minisign signature of the archive, or of the manifest. */
  readonly signature?: SourceSignature;
}

/** Unpacks an archive into a folder that is not there yet, or refuses it and leaves nothing there. */
export type ExtractArchive = (
  file: string,
  to: string,
  options: { readonly limits: ArchiveLimits; readonly signal?: AbortSignal },
) => Promise<ExtractedArchive | PackRefusal>;

export interface ExtractedArchive {
  readonly type: 'extracted';
  readonly files: number;
  readonly bytes: number;
  readonly leftOut: readonly string[];
}

/** What sources of the network may reach, and with what. Everything has a default. */
export interface SourceNetwork {
  /** Addresses of `http://` and `git://`, also elsewhere than on this machine. */
  readonly allowHttp?: boolean;
  /** Hosts that are not on the internet. */
  readonly allowPrivate?: boolean;
  /** Repositories of this machine by `file://`. */
  readonly allowFile?: boolean;
  readonly resolve?: ResolveHost;
  /** To trust besides those that Node knows, in PEM. */
  readonly certificates?: readonly string[];
  /** Programs; looked for in PATH otherwise. */
  readonly git?: string;
  readonly npm?: string;
  /** Where packages are asked for; what npm is configured to otherwise. */
  readonly npmRegistry?: string;
  /** For one download or one run of a program; five minutes. */
  readonly timeoutMs?: number;
}

export interface StageProgress {
  readonly step: 'fetch' | 'unpack' | 'copy';
  readonly done?: number;
  readonly total?: number;
}

export interface StageOptions {
  /** A fresh empty folder of ours, on the file system of the root. Whatever comes of it, the caller removes it. */
  readonly to: string;
  readonly cwd: string;
  readonly home: string;
  readonly limits?: ArchiveLimits;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly offline?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: StageProgress) => void;
  /** From a lock: exactly this or nothing. */
  readonly expect?: { readonly revision?: string; readonly archive?: string };
  /** Names of skills that are wanted, for sources that can leave the others where they are. */
  readonly only?: readonly string[];
  readonly network?: SourceNetwork;
  readonly extract: ExtractArchive;
}

/** The options with what is always there. */
export interface StageContext extends StageOptions {
  readonly limits: ArchiveLimits;
  readonly network: SourceNetwork;
  /** Where the files of the source go: inside `to`, not there yet. */
  readonly tree: string;
}
