import { defined } from '#core';
import type { SubjectAgent } from '../subject.ts';
import { amountIn, listIn, objectIn, textIn, type JsonObject, type Transcript } from '../transcript.ts';

/**
 * Any program as an agent. It finds the request in `SKILLWRIGHT_PROMPT`, the skills in `SKILLWRIGHT_SKILLS` and the model in
 * `SKILLWRIGHT_MODEL`, works in the current directory, and prints one JSON object per line: `skills`, `skill`, `tool`, `usage`, `error` and,
 * at the end, `answer`. Other lines are ignored, and so is what it does after its answer: that had no part in it.
 */
export function commandSubject(line: string): SubjectAgent {
  return {
    id: line,
    program: '/bin/sh',
    install: '',
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
    events: {
      skills: beforeAnswer((event, transcript) => {
        transcript.offered = listIn(event, 'names').filter((name) => typeof name === 'string');
      }),
      skill: beforeAnswer(addCall),
      tool: beforeAnswer(addCall),
      turn: (_, transcript) => transcript.turn(),
      usage(event, transcript) {
        const [input, output] = [amountIn(event, 'input_tokens'), amountIn(event, 'output_tokens')];
        transcript.addUsage({ input, output, cached: amountIn(event, 'cached_input_tokens') });
        transcript.addUsd(amountIn(event, 'usd'));
      },
      answer: beforeAnswer((event, transcript) => {
        transcript.answer = textIn(event, 'text');
        transcript.model = textIn(event, 'model');
        // One that names no skills brings none.
        transcript.offered ??= [];
        transcript.isComplete = true;
      }),
      error(event, transcript) {
        transcript.error = textIn(event, 'message') || 'error';
      },
    },
  };
}

type ReadEvent = SubjectAgent['events'][string];

function beforeAnswer(read: ReadEvent): ReadEvent {
  return (event, transcript) => {
    if (!transcript.isComplete) read(event, transcript);
  };
}

function addCall(event: JsonObject, transcript: Transcript): void {
  const [id, name] = [String(transcript.calls), textIn(event, 'name')];
  if (event['type'] === 'skill') transcript.start(id, { name: 'skill', input: { name }, skill: name });
  else transcript.start(id, { name, input: objectIn(event, 'input') });
  transcript.end(id, { ok: event['ok'] !== false, output: textIn(event, 'output') });
}
