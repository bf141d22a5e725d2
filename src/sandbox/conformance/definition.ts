import type { RunLimits } from '#core';
import type { Fixture } from './fixture.ts';

/** Capabilities and programs that a case requires. */
export interface Needs {
  readonly limits?: readonly (keyof RunLimits)[];
  readonly interaction?: boolean;
  readonly terminal?: boolean;
  /** Programs that must be installed inside the sandbox. */
  readonly programs?: readonly string[];
}

export interface CaseDefinition {
  readonly name: string;
  readonly requirement: `${'EXEC' | 'ENV'}-${number}`;
  readonly isIsolation?: boolean;
  readonly needs?: Needs;
  /** Runs in its own workspace, because it damages, fills or detaches it. Other cases share one. */
  readonly ownWorkspace?: boolean;
  run(fixture: Fixture): Promise<void>;
}

type CaseOptions = Pick<CaseDefinition, 'isIsolation' | 'needs' | 'ownWorkspace'>;
type Conform = readonly [run: CaseDefinition['run']] | readonly [options: CaseOptions, run: CaseDefinition['run']];

/** Defines a case. Options come before its function, as in test runners. */
export function conform(requirement: CaseDefinition['requirement'], name: string, ...given: Conform): CaseDefinition {
  const [options, run] = given.length === 1 ? [{}, given[0]] : given;
  return { name, requirement, ...options, run };
}
