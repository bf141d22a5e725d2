import path from 'node:path';

import { findProjectFolder } from '#packs';
import type { SubjectAgent, SubjectRequest } from '../subject.ts';
import { numberIn, objectIn, textIn, type JsonObject, type Transcript } from '../transcript.ts';
import { PROVIDER_URLS, providerKeys, splitModelName, providerUrl } from './providers.ts';

const FLAGS = 'run --format json --pure'.split(' ');

export const OPENCODE: SubjectAgent = {
  id: 'opencode',
  skillsFolder: findProjectFolder('opencode'),
  program: 'opencode',
  install: 'npm install -g opencode-ai',
  // Its skill tool lists the files of a skill with ripgrep.
  needs: ['rg'],
  keys: providerKeys,
  variables: Object.values(PROVIDER_URLS),
  concurrency: 2,
  start: (request) => ({
    args: [...FLAGS, ...(request.model === undefined ? [] : ['-m', request.model]), request.prompt],
    env: Object.fromEntries(
      ['AUTOUPDATE', 'MODELS_FETCH', 'LSP_DOWNLOAD', 'DEFAULT_PLUGINS'].map((name) => [
        `OPENCODE_DISABLE_${name}`,
        '1',
      ]),
    ),
    files: { [path.join(request.home, '.config/opencode/opencode.json')]: JSON.stringify(buildConfig(request)) },
  }),
  read(event, transcript) {
    const part = objectIn(event, 'part');
    switch (event['type']) {
      case 'step_start':
        transcript.turn();
        // A text before a tool call is not the answer.
        transcript.answer = '';
        return;
      case 'text':
        transcript.answer += textIn(part, 'text');
        return;
      case 'tool_use':
        readTool(part, transcript);
        return;
      case 'step_finish': {
        const [tokens, { usd = 0 }] = [objectIn(part, 'tokens'), transcript];
        const cache = objectIn(tokens, 'cache');
        const cached = numberIn(cache, 'read');
        const input = numberIn(tokens, 'input') + numberIn(cache, 'write') + cached;
        transcript.addUsage(input, numberIn(tokens, 'output') + numberIn(tokens, 'reasoning'), cached);
        transcript.usd = usd + numberIn(part, 'cost');
        transcript.isComplete = textIn(part, 'reason') !== 'tool-calls';
        return;
      }
      case 'error':
        transcript.isComplete = true;
        transcript.error = errorText(objectIn(event, 'error'));
        return;
      default:
    }
  },
};

function errorText(error: JsonObject): string {
  return textIn(objectIn(error, 'data'), 'message') || textIn(error, 'message') || textIn(error, 'name') || 'error';
}

function readTool(part: JsonObject, transcript: Transcript): void {
  const [id, name, state] = [textIn(part, 'callID'), textIn(part, 'tool'), objectIn(part, 'state')];
  const input = objectIn(state, 'input');
  transcript.start(id, { name, input, ...(name === 'skill' ? { skill: textIn(input, 'name') } : {}) });
  transcript.end(id, {
    ok: state['status'] === 'completed',
    output: textIn(state, 'output') || textIn(state, 'error'),
  });
}

function buildConfig({ model, env }: SubjectRequest): object {
  const { provider, name } = splitModelName(model);
  const url = providerUrl(provider, env, { withVersion: true });
  return {
    autoupdate: false,
    share: 'disabled',
    permission: { '*': 'allow', skill: { '*': 'allow', 'customize-opencode': 'deny' } },
    ...(name === ''
      ? {}
      : {
          provider: {
            [provider]: { models: { [name]: {} }, options: url === undefined ? undefined : { baseURL: url } },
          },
        }),
  };
}
