/** Other agents as subjects of an evaluation: each is a row of data and a reader of its transcript. */
import type { JsonObject, Transcript } from './transcript.ts';

/** Folders of one run; the agent sees no other home and no other project. */
export interface SubjectFolders {
  readonly home: string;
  readonly temporary: string;
  readonly project: string;
  readonly skills: string;
}

export interface SubjectRequest extends SubjectFolders {
  readonly prompt: string;
  readonly model: string | undefined;
  readonly env: Readonly<Record<string, string>>;
}

interface SubjectStart {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Configuration files to write, by absolute path. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface SubjectAgent {
  readonly id: string;
  /** Its id in the table of `install --agent`, which says where it reads skills, if it has another one there. */
  readonly listedAs?: string;
  readonly program: string;
  /** How to get the program, for the reason of a skipped case. */
  readonly install: string;
  /** Other programs that it needs on PATH. */
  readonly needs?: readonly string[];
  /** One of these variables must be set for the model; the home is empty, so a login does not apply. */
  readonly keys: (model: string | undefined) => readonly string[];
  /** Variables that are passed by name, besides the keys. */
  readonly variables: readonly string[];
  readonly concurrency: number;
  readonly start: (request: SubjectRequest) => SubjectStart;
  /** Readers of the lines of its transcript, by their `type`; other lines are ignored. */
  readonly events: Readonly<Record<string, (event: JsonObject, transcript: Transcript) => void>>;
}
