import type { HostAndPort } from '#core';
import type { CommandLine } from './command/command-words.ts';

/** One thing that an action does, in terms that rules match. An action may do several, such as run a command with a host file as input. */
export interface Access {
  /** `run_command`, `write_file`, …; or the name of a third-party tool. */
  readonly tool: string;
  readonly subject: Subject;
}

type Subject =
  | { readonly kind: 'none' }
  /** `path` is relative to the project if it is in the project; otherwise `workspace://…`, `skill://…` or absolute. Links are resolved. */
  | {
      readonly kind: 'path';
      readonly path: string;
      readonly absolute?: string;
      /** Further names of the file that rules may use. */
      readonly also?: readonly string[];
      /** A file of a loaded skill, which lists of skills do not take away. */
      readonly isOfSkill?: boolean;
      /** A file that git ignores; reading it needs approval. */
      readonly isIgnored?: boolean;
      /** A file of a git repository that runs nothing: changing it is shown as a diff and can be undone. */
      readonly isUndoable?: boolean;
      /** A file of the machine that is, with its links resolved, in the project. */
      readonly isOfProject?: boolean;
    }
  /** `hasVariables`: the action sets environment variables, which can change what the command runs. */
  | {
      readonly kind: 'command';
      readonly line: CommandLine;
      /** Names of all programs that the line runs, including those run by wrappers; empty if the line is unclear. */
      readonly programs: readonly string[];
      /** All programs of the line are known: nothing in it is hidden. */
      readonly isTransparent: boolean;
      /** The program reaches nothing outside its sandbox. */
      readonly isContained: boolean;
      /** The command starts in a folder other than the default. */
      readonly isElsewhere: boolean;
      /** Nothing isolates the program. */
      readonly isUnisolated: boolean;
    }
  /** `skill` is a name, `script` a path inside the skill. */
  | {
      readonly kind: 'script';
      readonly skill: string;
      readonly script: string;
      readonly args: readonly string[];
      readonly isUnisolated?: boolean;
    }
  /** `host` is absent if the URL has no valid host. */
  | {
      readonly kind: 'host';
      readonly host: HostAndPort['host'] | undefined;
      readonly port: number;
      readonly method: string;
    }
  | { readonly kind: 'skill'; readonly id: string; readonly name: string }
  /** An environment variable with a secret that the program gets. */
  | { readonly kind: 'secret'; readonly name: string }
  /** `names` with the prefix `npm:` for Node packages. `lock` is the digest of the exact versions, once they are known. */
  | { readonly kind: 'packages'; readonly names: readonly string[]; readonly lock?: string };
