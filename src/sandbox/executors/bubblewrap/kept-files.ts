import { keepBytes } from '../../../platform/process/inherited-descriptors.ts';
import type { Inherited, KeptBytes } from '../../../platform/process/inherited-descriptors.ts';
import { SANDBOX_FILES } from './profile.ts';
import type { SandboxDescriptors } from './profile.ts';

/** What the programs of a workspace all find alike: written for the first of them, and opened anew for each. */
export class KeptFiles {
  readonly #contents: readonly Uint8Array[];
  readonly #kept: KeptBytes[] = [];

  constructor(filter: Uint8Array) {
    const { passwd, group, hosts, names } = SANDBOX_FILES;
    this.#contents = [filter, ...[passwd, group, hosts, names].map((text) => new TextEncoder().encode(text))];
  }

  /** The filter, and the texts in the order of `SANDBOX_FILES`. */
  inherited(): readonly [Inherited, ...Inherited[]] {
    for (const bytes of this.#contents.slice(this.#kept.length)) this.#kept.push(keepBytes(bytes));
    const [filter, ...texts] = this.#kept.map(({ inherited }) => inherited);
    if (filter === undefined) throw new TypeError('there is no filter of system calls');
    return [filter, ...texts];
  }

  close(): void {
    for (const kept of this.#kept.splice(0)) kept.close();
  }
}

/** Where bubblewrap reads its arguments. */
export const ARGUMENTS_DESCRIPTOR = 3;
const FILTER_DESCRIPTOR = 4;
/** One digit: dash takes no more. */
export const ENTRY_DESCRIPTOR = 5;

export interface Given {
  readonly args: Uint8Array;
  /** The file by which the gate enters its control group, where it does. */
  readonly entry: string | undefined;
  readonly kept: KeptFiles;
  readonly words: string | undefined;
}

/** All that bubblewrap and the gate are given, from descriptor 3 on. */
export function inheritedFiles({ args, entry, kept, words }: Given): readonly Inherited[] {
  const [filter, ...texts] = kept.inherited();
  return [
    args,
    filter,
    ...(entry === undefined ? [] : [{ file: entry, access: 'write' } as const]),
    ...texts,
    ...(words === undefined ? [] : [new TextEncoder().encode(words)]),
  ];
}

/** Where each of them is found. */
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
