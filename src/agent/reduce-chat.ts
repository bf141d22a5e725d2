/** The messages of a chat, reduced from events, so that another run can continue the chat. */
import { defined, type OfType, type RunEvent } from '#core';

type ChatEvent = OfType<RunEvent, 'chat'>['event'];
export type Said = OfType<ChatEvent, 'carry'>['said'][number];

/** Returns the messages after an event. */
export function reduceChat(messages: readonly Said[], event: ChatEvent): readonly Said[] {
  switch (event.type) {
    case 'message':
      return [...messages, { message: event.text, ...defined({ images: event.images }), answer: '' }];
    case 'answer':
      return messages.map((one, place) => (place === messages.length - 1 ? { ...one, answer: event.text } : one));
    case 'undo':
      return messages.slice(0, -1);
    case 'carry':
      return event.said;
  }
}
