import type { ArchiveLimits } from '../../core/archive-limits.ts';
import type { PackRefusal } from '../problems.ts';
import type { ResolveHost } from '../../platform/net/network-gate.ts';

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

export interface BringProgress {
  readonly step: 'fetch' | 'unpack' | 'copy';
  readonly done?: number;
  readonly total?: number;
}

export interface BringOptions {
  /** A fresh empty folder of ours, on the file system of the root. Whatever comes of it, the caller removes it. */
  readonly to: string;
  readonly cwd: string;
  readonly home: string;
  readonly limits?: ArchiveLimits;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly offline?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: BringProgress) => void;
  /** From a lock: exactly this or nothing. */
  readonly expect?: { readonly revision?: string; readonly archive?: string };
  /** Names of skills that are wanted, for sources that can leave the others where they are. */
  readonly only?: readonly string[];
  readonly network?: SourceNetwork;
  readonly extract: ExtractArchive;
}

/** The options with what is always there. */
export interface Bringing extends BringOptions {
  readonly limits: ArchiveLimits;
  readonly network: SourceNetwork;
  /** Where the files of the source go: inside `to`, not there yet. */
  readonly tree: string;
}
