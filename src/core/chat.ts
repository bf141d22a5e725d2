/** The messages of a chat, reduced from events, so that another run can continue the chat. */

export interface Said {
  readonly message: string;
  /** Empty if the program ended before answering. */
  readonly answer: string;
}

export type ChatEvent =
  | { readonly type: 'message'; readonly text: string }
  | { readonly type: 'answer'; readonly text: string }
  /** Forgets the last message and its answer. `files` are the files of the project that it had changed; other actions are not undone. */
  | { readonly type: 'undo'; readonly files?: readonly { readonly path: string; readonly result: string }[] }
  /** Messages of an earlier run, copied so that this record is self-contained. */
  | { readonly type: 'carry'; readonly run: string; readonly said: readonly Said[] };

/** Returns the messages after an event. */
export function reduceChat(said: readonly Said[], event: ChatEvent): readonly Said[] {
  switch (event.type) {
    case 'message':
      return [...said, { message: event.text, answer: '' }];
    case 'answer':
      return said.map((one, place) => (place === said.length - 1 ? { ...one, answer: event.text } : one));
    case 'undo':
      return said.slice(0, -1);
    case 'carry':
      return event.said;
  }
}
