import path from 'node:path';

import type { SubjectAgent } from '../subject.ts';
import { amountIn, objectIn, textIn } from '../transcript.ts';

const FLAGS = '-o stream-json --approval-mode yolo --skip-trust'.split(' ');
const SETTINGS = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  privacy: { usageStatisticsEnabled: false },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, disableAutoUpdate: true },
  telemetry: { enabled: false },
};

export const GEMINI: SubjectAgent = {
  id: 'gemini',
  listedAs: 'gemini-cli',
  program: 'gemini',
  install: 'npm install -g @google/gemini-cli',
  keys: () => ['GEMINI_API_KEY'],
  variables: ['GOOGLE_GEMINI_BASE_URL'],
  concurrency: 2,
  start: ({ prompt, model, home }) => ({
    args: ['-p', prompt, ...FLAGS, ...(model === undefined ? [] : ['-m', model])],
    env: {},
    files: { [path.join(home, '.gemini/settings.json')]: JSON.stringify(SETTINGS) },
  }),
  events: {
    init(event, transcript) {
      transcript.model = textIn(event, 'model');
    },
    message(event, transcript) {
      if (event['role'] === 'assistant') transcript.answer += textIn(event, 'content');
    },
    tool_use(event, transcript) {
      // A message before a tool call is not the answer.
      transcript.answer = '';
      transcript.turn();
      const [name, input] = [textIn(event, 'tool_name'), objectIn(event, 'parameters')];
      const skill = name === 'activate_skill' ? textIn(input, 'name') : undefined;
      transcript.start(textIn(event, 'tool_id'), { name, input, skill });
    },
    tool_result(event, transcript) {
      const output = textIn(event, 'output') || textIn(objectIn(event, 'error'), 'message');
      transcript.end(textIn(event, 'tool_id'), { ok: event['status'] === 'success', output });
    },
    error(event, transcript) {
      if (event['severity'] !== 'warning') transcript.error = textIn(event, 'message') || 'error';
    },
    result(event, transcript) {
      transcript.isComplete = true;
      transcript.turn();
      const stats = objectIn(event, 'stats');
      const [input, output] = [amountIn(stats, 'input_tokens'), amountIn(stats, 'output_tokens')];
      transcript.addUsage({ input, output, cached: amountIn(stats, 'cached') });
      if (event['status'] !== 'success')
        transcript.error = textIn(objectIn(event, 'error'), 'message') || textIn(event, 'status');
    },
  },
};
