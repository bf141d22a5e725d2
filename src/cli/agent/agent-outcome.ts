/** Who answers, how it ended, and what it took: the same words and exit statuses for every command that has an agent. */
import type { AgentModel } from '../../agent/agent-model.ts';
import type { AgentResult } from '../../agent/agent-options.ts';
import { countText, durationText } from '../../core/text/line-text.ts';
import { printable } from '../../core/text/text.ts';
import { EXIT } from '../exit.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Which model, and why: nobody should have to guess who answered. */
export function choiceLines({ model, reason, tried }: AgentModel, { style }: Terminal): readonly string[] {
  const line = `model ${printable(model.id)}: ${printable(reason)}`;
  if (model.id !== 'rules' || tried.length === 0) return [line];
  return [
    `${style('yellow', line)}; ${tried.map((one) => printable(one)).join('; ')}`,
    'rules is no language model: it can follow the quickstart of a skill and nothing else',
  ];
}

/** What was refused last, and nothing came after it, is what the run came to, whatever the model says about it. */
export function statusOf({ outcome }: AgentResult, isRefused: boolean): number {
  switch (outcome) {
    case 'done':
      return isRefused ? EXIT.refused : EXIT.done;
    case 'refused':
      return EXIT.refused;
    case 'cancelled':
      return EXIT.interrupted;
    case 'degraded':
    case 'failed':
      return EXIT.failed;
  }
}

export function endLines({ outcome, used, run }: AgentResult, copied: readonly string[] = []): readonly string[] {
  const spent = [
    countText(used.turns, 'turn'),
    `about ${countText(used.tokens, 'token')}`,
    countText(used.toolCalls, 'tool call'),
    durationText(used.wallMs),
  ];
  return [
    ...copied.map((name) => `wrote ${printable(name)}`),
    `${outcome} after ${spent.join(', ')}${run === undefined ? '' : `; see skillwright runs show ${run}`}`,
  ];
}
