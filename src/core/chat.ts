/** What a person and an agent said to each other, as a reduction of events: from it a chat goes on in another run. */

export interface Said {
  readonly message: string;
  /** Empty where none came: the program was ended before. */
  readonly answer: string;
}

export type ChatEvent =
  | { readonly type: 'message'; readonly text: string }
  | { readonly type: 'answer'; readonly text: string }
  /** The last message and its answer are forgotten; what was done for it is not undone. */
  | { readonly type: 'undo' }
  /** All that was said in an earlier run, so that this record needs no other. */
  | { readonly type: 'carry'; readonly run: string; readonly said: readonly Said[] };

/** What was said after an event. Pure. */
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
