import path from 'node:path';

import { findProjectFolder } from '#packs';
import type { SubjectAgent, SubjectRequest } from '../subject.ts';
import { contentText, listIn, numberIn, objectIn, textIn, type JsonObject, type Transcript } from '../transcript.ts';
import { PROVIDER_URLS, providerKeys, providerUrl } from './providers.ts';

/** AGENTS.md and CLAUDE.md of parent folders do not apply. */
const FLAGS = '-p --mode json --no-session --no-context-files --no-extensions --no-prompt-templates --no-themes'.split(
  ' ',
);

export const PI: SubjectAgent = {
  id: 'pi',
  skillsFolder: findProjectFolder('pi'),
  program: 'pi',
  install: 'npm install -g @mariozechner/pi-coding-agent',
  needs: [],
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
  read(event, transcript) {
    switch (event['type']) {
      case 'turn_start':
        transcript.turn();
        return;
      case 'tool_execution_start':
        transcript.start(textIn(event, 'toolCallId'), {
          name: textIn(event, 'toolName'),
          input: objectIn(event, 'args'),
        });
        return;
      case 'tool_execution_end':
        transcript.end(textIn(event, 'toolCallId'), {
          ok: event['isError'] === false,
          output: contentText(objectIn(event, 'result')['content']),
        });
        return;
      case 'message_end':
        readMessage(objectIn(event, 'message'), transcript);
        return;
      case 'agent_end':
        transcript.isComplete = true;
        return;
      default:
    }
  },
};

function readMessage(message: JsonObject, transcript: Transcript): void {
  if (textIn(message, 'role') !== 'assistant') return;
  transcript.model = textIn(message, 'model');
  const texts = listIn(message, 'content').filter((part) => textIn(part, 'type') === 'text');
  transcript.answer = contentText(texts);
  const [usage, { usd = 0 }] = [objectIn(message, 'usage'), transcript];
  const cached = numberIn(usage, 'cacheRead');
  const input = numberIn(usage, 'input') + numberIn(usage, 'cacheWrite') + cached;
  transcript.addUsage(input, numberIn(usage, 'output'), cached);
  transcript.usd = usd + numberIn(objectIn(usage, 'cost'), 'total');
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
