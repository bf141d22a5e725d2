import type { Mode } from '#core';
import type { scanSkill } from '#scan';
import type { LockFile } from '../lock/lock-file.ts';
import type { PackSettings } from '../pack-settings.ts';
import type { NameCheck } from './confusable-name.ts';

export interface InspectOptions {
  readonly settings: PackSettings;
  readonly mode: Mode;
  /** Compares a name with the names in the root. */
  readonly checkName: (name: string) => NameCheck;
  /** The lock of the root, for what was accepted in the installed files. */
  readonly lock?: LockFile;
  /** Shared by the skills of one source. */
  readonly known?: NonNullable<NonNullable<Parameters<typeof scanSkill>[1]>['known']>;
  readonly signal?: AbortSignal;
}
