/** The answer to the person while it grows, out of what a model streams. Nothing is done by it. */
import { openActionStream } from './action-stream.ts';
import type { ModelDelta } from '../core/model.ts';
import type { ProtocolName } from './system-prompt.ts';

export function deltasOf(protocol: ProtocolName, tell: (text: string) => void): (delta: ModelDelta) => void {
  if (protocol === 'tools')
    return (delta) => {
      if (delta.type === 'text') tell(delta.text);
    };
  const stream = openActionStream({ onAnswerText: tell });
  return (delta) => {
    if (delta.type === 'text') stream.write(delta.text);
  };
}
