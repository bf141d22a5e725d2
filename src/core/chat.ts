/** The events of a chat, from which `reduceChat` of the agent has its messages. */
import type { ModelImage } from './model.ts';

export interface Said {
  readonly message: string;
  readonly images?: readonly ModelImage[];
  /** Empty if the program ended before answering. */
  readonly answer: string;
}

export type ChatEvent =
  | { readonly type: 'message'; readonly text: string; readonly images?: readonly ModelImage[] }
  | { readonly type: 'answer'; readonly text: string }
  /** Forgets the last message and its answer. `files` are the files of the project that it had changed; other actions are not undone. */
  | { readonly type: 'undo'; readonly files?: readonly { readonly path: string; readonly result: string }[] }
  /** Messages of an earlier run, copied so that this record is self-contained. */
  | { readonly type: 'carry'; readonly run: string; readonly said: readonly Said[] };
