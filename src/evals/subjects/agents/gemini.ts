import path from 'node:path';

import { findProjectFolder } from '#packs';
import type { SubjectAgent } from '../subject.ts';
import { numberIn, objectIn, textIn } from '../transcript.ts';

const FLAGS = '-o stream-json --approval-mode yolo --skip-trust'.split(' ');
const SETTINGS = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  privacy: { usageStatisticsEnabled: false },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, disableAutoUpdate: true },
  telemetry: { enabled: false },
};

export const GEMINI: SubjectAgent = {
  id: 'gemini',
  skillsFolder: findProjectFolder('gemini-cli'),
  program: 'gemini',
  install: 'npm install -g @google/gemini-cli',
  needs: [],
  keys: () => ['GEMINI_API_KEY'],
  variables: ['GOOGLE_GEMINI_BASE_URL'],
  concurrency: 2,
  start: ({ prompt, model, home }) => ({
    args: ['-p', prompt, ...FLAGS, ...(model === undefined ? [] : ['-m', model])],
    env: {},
    files: { [path.join(home, '.gemini/settings.json')]: JSON.stringify(SETTINGS) },
  }),
  read(event, transcript) {
    switch (event['type']) {
      case 'init':
        transcript.model = textIn(event, 'model');
        return;
      case 'message':
        // A message before a tool call is not the answer.
        if (event['role'] === 'assistant') transcript.answer += textIn(event, 'content');
        return;
      case 'tool_use': {
        transcript.answer = '';
        transcript.turn();
        const [name, input] = [textIn(event, 'tool_name'), objectIn(event, 'parameters')];
        const skill = name === 'activate_skill' ? { skill: textIn(input, 'name') } : {};
        transcript.start(textIn(event, 'tool_id'), { name, input, ...skill });
        return;
      }
      case 'tool_result':
        transcript.end(textIn(event, 'tool_id'), {
          ok: event['status'] === 'success',
          output: textIn(event, 'output') || textIn(objectIn(event, 'error'), 'message'),
        });
        return;
      case 'error':
        if (event['severity'] !== 'warning') transcript.error = textIn(event, 'message') || 'error';
        return;
      case 'result': {
        transcript.isComplete = true;
        transcript.turn();
        const stats = objectIn(event, 'stats');
        transcript.addUsage(
          numberIn(stats, 'input_tokens'),
          numberIn(stats, 'output_tokens'),
          numberIn(stats, 'cached'),
        );
        if (event['status'] !== 'success')
          transcript.error = textIn(objectIn(event, 'error'), 'message') || textIn(event, 'status');
        return;
      }
      default:
    }
  },
};
