import { keepBytes } from '../../../platform/process/inherited-descriptors.ts';
import type { Inherited, KeptBytes } from '../../../platform/process/inherited-descriptors.ts';
import { SANDBOX_FILES } from './profile.ts';
import type { SandboxDescriptors } from './profile.ts';

/** Files that are the same for every program of a workspace: written once, opened anew for each program. */
export class SharedFiles {
  readonly #contents: readonly Uint8Array[];
  readonly #kept: KeptBytes[] = [];

  constructor(filter: Uint8Array) {
    const { passwd, group, hosts, names } = SANDBOX_FILES;
    this.#contents = [filter, ...[passwd, group, hosts, names].map((text) => new TextEncoder().encode(text))];
  }

  /** The seccomp filter, then the files in the order of `SANDBOX_FILES`. */
  inherited(): readonly [Inherited, ...Inherited[]] {
    for (const bytes of this.#contents.slice(this.#kept.length)) this.#kept.push(keepBytes(bytes));
    const [filter, ...texts] = this.#kept.map(({ inherited }) => inherited);
    if (filter === undefined) throw new TypeError('the seccomp filter is missing');
    return [filter, ...texts];
  }

  close(): void {
    for (const kept of this.#kept.splice(0)) kept.close();
  }
}

/** bubblewrap reads its arguments from this descriptor. */
export const ARGUMENTS_DESCRIPTOR = 3;
const FILTER_DESCRIPTOR = 4;
/** dash accepts only one digit. */
export const ENTRY_DESCRIPTOR = 5;

export interface ProgramFiles {
  readonly args: Uint8Array;
  /** The file by which the gate enters its control group, where it does so itself. */
  readonly entry: string | undefined;
  readonly shared: SharedFiles;
  readonly words: string | undefined;
}

/** The files that bubblewrap and the gate inherit, from descriptor 3 on. */
export function inheritedFiles({ args, entry, shared, words }: ProgramFiles): readonly Inherited[] {
  const [filter, ...texts] = shared.inherited();
  return [
    args,
    filter,
    ...(entry === undefined ? [] : [{ file: entry, access: 'write' } as const]),
    ...texts,
    ...(words === undefined ? [] : [new TextEncoder().encode(words)]),
  ];
}

/** The descriptor of each file of `inheritedFiles`. */
export function descriptorsOf({
  hasEntry,
  hasWords,
}: {
  readonly hasEntry: boolean;
  readonly hasWords: boolean;
}): SandboxDescriptors {
  const passwd = ENTRY_DESCRIPTOR + (hasEntry ? 1 : 0);
  return {
    seccomp: FILTER_DESCRIPTOR,
    passwd,
    group: passwd + 1,
    hosts: passwd + 2,
    names: passwd + 3,
    ...(hasWords ? { words: passwd + 4 } : {}),
  };
}
