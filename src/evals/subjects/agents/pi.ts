import path from 'node:path';

import type { SubjectAgent, SubjectRequest } from '../subject.ts';
import {
  amountIn,
  contentText,
  listIn,
  objectIn,
  sumAmounts,
  textIn,
  type JsonObject,
  type Transcript,
} from '../transcript.ts';
import { PROVIDER_URLS, providerKeys, providerUrl } from './providers.ts';

/** AGENTS.md and CLAUDE.md of parent folders do not apply; skills of the project need its approval. */
const FLAGS =
  '-p --approve --mode json --no-session --no-context-files --no-extensions --no-prompt-templates --no-themes'.split(
    ' ',
  );

export const PI: SubjectAgent = {
  id: 'pi',
  program: 'pi',
  install: 'npm install -g @earendil-works/pi-coding-agent',
  keys: providerKeys,
  variables: Object.values(PROVIDER_URLS),
  concurrency: 4,
  start: (request) => ({
    args: [...FLAGS, ...(request.model === undefined ? [] : ['--model', request.model]), request.prompt],
    env: { PI_OFFLINE: '1', PI_TELEMETRY: '0' },
    files: {
      [path.join(request.home, '.pi/agent/models.json')]: JSON.stringify({ providers: listProviders(request) }),
    },
  }),
  events: {
    turn_start: (_, transcript) => transcript.turn(),
    tool_execution_start(event, transcript) {
      const [name, input] = [textIn(event, 'toolName'), objectIn(event, 'args')];
      transcript.start(textIn(event, 'toolCallId'), { name, input });
    },
    tool_execution_end(event, transcript) {
      const output = contentText(objectIn(event, 'result')['content']);
      transcript.end(textIn(event, 'toolCallId'), { ok: event['isError'] === false, output });
    },
    message_end: readMessage,
    agent_end(_, transcript) {
      transcript.isComplete = true;
    },
  },
};

function readMessage(event: JsonObject, transcript: Transcript): void {
  const message = objectIn(event, 'message');
  if (textIn(message, 'role') !== 'assistant') return;
  transcript.model = textIn(message, 'model');
  const texts = listIn(message, 'content').filter((part) => textIn(part, 'type') === 'text');
  transcript.answer = contentText(texts);
  const usage = objectIn(message, 'usage');
  const [cached = 0, written = 0] = [amountIn(usage, 'cacheRead'), amountIn(usage, 'cacheWrite')];
  const input = sumAmounts([amountIn(usage, 'input'), cached, written]);
  transcript.addUsage({ input, output: amountIn(usage, 'output'), cached, written });
  transcript.addUsd(amountIn(objectIn(usage, 'cost'), 'total'));
  // The exit code is 0 even then. A later message means that a retry succeeded.
  const isFailed = textIn(message, 'stopReason') === 'error';
  transcript.error = isFailed ? textIn(message, 'errorMessage') || 'stopReason: error' : undefined;
}

function listProviders({ env }: SubjectRequest): Readonly<Record<string, object>> {
  return Object.fromEntries(
    Object.keys(PROVIDER_URLS).flatMap((provider) => {
      const url = providerUrl(provider, env, { withVersion: provider !== 'anthropic' });
      return url === undefined ? [] : [[provider, { baseUrl: url }] as const];
    }),
  );
}
