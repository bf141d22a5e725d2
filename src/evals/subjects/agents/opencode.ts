import path from 'node:path';

import type { SubjectAgent, SubjectRequest } from '../subject.ts';
import { amountIn, objectIn, sumAmounts, textIn } from '../transcript.ts';
import { PROVIDER_URLS, providerKeys, splitModelName, providerUrl } from './providers.ts';

const FLAGS = 'run --format json --pure'.split(' ');
const DISABLED = ['AUTOUPDATE', 'MODELS_FETCH', 'LSP_DOWNLOAD', 'DEFAULT_PLUGINS'];

export const OPENCODE: SubjectAgent = {
  id: 'opencode',
  program: 'opencode',
  install: 'npm install -g opencode-ai',
  // Its skill tool lists the files of a skill with ripgrep.
  needs: ['rg'],
  keys: providerKeys,
  variables: Object.values(PROVIDER_URLS),
  concurrency: 2,
  start: (request) => ({
    args: [...FLAGS, ...(request.model === undefined ? [] : ['-m', request.model]), request.prompt],
    env: Object.fromEntries(DISABLED.map((name) => [`OPENCODE_DISABLE_${name}`, '1'])),
    files: { [path.join(request.home, '.config/opencode/opencode.json')]: JSON.stringify(buildConfig(request)) },
  }),
  events: {
    step_start(_, transcript) {
      transcript.turn();
      // A text before a tool call is not the answer.
      transcript.answer = '';
    },
    text(event, transcript) {
      transcript.answer += textIn(objectIn(event, 'part'), 'text');
    },
    tool_use(event, transcript) {
      const part = objectIn(event, 'part');
      const [id, name, state] = [textIn(part, 'callID'), textIn(part, 'tool'), objectIn(part, 'state')];
      const input = objectIn(state, 'input');
      transcript.start(id, { name, input, skill: name === 'skill' ? textIn(input, 'name') : undefined });
      const output = textIn(state, 'output') || textIn(state, 'error');
      transcript.end(id, { ok: state['status'] === 'completed', output });
    },
    step_finish(event, transcript) {
      const part = objectIn(event, 'part');
      const tokens = objectIn(part, 'tokens');
      const cache = objectIn(tokens, 'cache');
      const [cached = 0, written = 0] = [amountIn(cache, 'read'), amountIn(cache, 'write')];
      const input = sumAmounts([amountIn(tokens, 'input'), cached, written]);
      const output = sumAmounts([amountIn(tokens, 'output'), amountIn(tokens, 'reasoning') ?? 0]);
      transcript.addUsage({ input, output, cached, written });
      transcript.addUsd(amountIn(part, 'cost'));
      transcript.isComplete = textIn(part, 'reason') !== 'tool-calls';
    },
    error(event, transcript) {
      const error = objectIn(event, 'error');
      transcript.isComplete = true;
      transcript.error =
        textIn(objectIn(error, 'data'), 'message') || textIn(error, 'message') || textIn(error, 'name') || 'error';
    },
  },
};

function buildConfig({ model, env }: SubjectRequest): object {
  const { provider, name } = splitModelName(model);
  const url = providerUrl(provider, env, { withVersion: true });
  return {
    autoupdate: false,
    share: 'disabled',
    permission: { '*': 'allow', skill: { '*': 'allow', 'customize-opencode': 'deny' } },
    provider: name === '' ? undefined : { [provider]: { models: { [name]: {} }, options: url && { baseURL: url } } },
  };
}
