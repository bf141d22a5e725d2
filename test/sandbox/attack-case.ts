import type { ProgramEnd, RunLimits, StagedSkill } from '../../src/core/execution.ts';
import type { AttackHost } from './attack-host.ts';

/** What is left after an attack, for the host to look at. */
export interface Aftermath {
  readonly host: AttackHost;
  /** The workspace on the host. */
  readonly root: string;
  readonly skill: StagedSkill;
  readonly end: ProgramEnd;
  readonly stdout: string;
  /** Bytes of stdout that reached the sink. */
  readonly outputBytes: number;
  readonly limits: RunLimits;
  /** A file of `out/`; empty where there is none. */
  readonly read: (name: string) => string;
}

interface AttackScript {
  readonly host: AttackHost;
  /** Where the program sees the workspace. */
  readonly root: string;
}

/** One attack on the host, by a number of part 3 of the research. The judge looks at the host and gives what went wrong. */
export interface AttackCase {
  readonly number: number;
  readonly name: string;
  readonly language: 'sh' | 'python3';
  readonly script: (place: AttackScript) => string;
  readonly limits?: Partial<RunLimits>;
  /** Ends that are right, among others none of which must leave damage; any where absent. */
  readonly reasons?: readonly ProgramEnd['reason'][];
  readonly judge: (aftermath: Aftermath) => readonly string[] | Promise<readonly string[]>;
}
