import { defined } from '#core';
import { findProjectFolder } from '#packs';
import type { SubjectAgent } from '../subject.ts';
import { numberIn, objectIn, textIn } from '../transcript.ts';

/**
 * Any program as an agent. It finds the request in `SKILLWRIGHT_PROMPT`, the skills in `SKILLWRIGHT_SKILLS` and the model in
 * `SKILLWRIGHT_MODEL`, works in the current directory, and prints one JSON object per line: `skill`, `tool`, `usage`, `error` and, at the
 * end, `answer`. Other lines are ignored.
 */
export function commandSubject(line: string): SubjectAgent {
  return {
    id: line,
    skillsFolder: findProjectFolder(''),
    program: '/bin/sh',
    install: '',
    needs: [],
    keys: () => [],
    variables: [],
    concurrency: 4,
    start: ({ prompt, model, skills }) => ({
      args: ['-c', line],
      env: {
        SKILLWRIGHT_PROMPT: prompt,
        SKILLWRIGHT_SKILLS: skills,
        ...defined({ SKILLWRIGHT_MODEL: model }),
      },
    }),
    read(event, transcript) {
      const name = textIn(event, 'name');
      const id = String(transcript.calls);
      switch (event['type']) {
        case 'skill':
          transcript.start(id, { name: 'skill', input: { name }, skill: name });
          transcript.end(id, { ok: event['ok'] !== false, output: textIn(event, 'output') });
          return;
        case 'tool':
          transcript.start(id, { name, input: objectIn(event, 'input') });
          transcript.end(id, { ok: event['ok'] !== false, output: textIn(event, 'output') });
          return;
        case 'turn':
          transcript.turn();
          return;
        case 'usage':
          transcript.addUsage(numberIn(event, 'input_tokens'), numberIn(event, 'output_tokens'));
          if (typeof event['usd'] === 'number') transcript.usd = numberIn(event, 'usd');
          return;
        case 'answer':
          transcript.answer = textIn(event, 'text');
          transcript.model = textIn(event, 'model');
          transcript.isComplete = true;
          return;
        case 'error':
          transcript.error = textIn(event, 'message') || 'error';
          return;
        default:
      }
    },
  };
}
