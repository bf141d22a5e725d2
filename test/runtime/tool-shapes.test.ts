import type Anthropic from '@anthropic-ai/sdk';
import { generateText, stepCountIs } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import type OpenAI from 'openai';
import { describe, expect, test } from 'vitest';

import { native } from '../../src/tools/native.ts';
import { toAiSdk, toAnthropic, toOpenAi, toOpenAiResponses } from '../../src/runtime/skill-tools.ts';
import { trpc } from '../../src/tools/trpc.ts';
import { verifies } from '../conformance/verifies.ts';
import { fake } from '../tools/fake-runtime.ts';

const listDocs = fake(trpc).tools.filter(({ name }) => name === 'skill_list_docs');
const parameters = {
  type: 'object',
  properties: { skill: { type: 'string' } },
  required: ['skill'],
};
const description = 'List the documents of a skill.';

describe('the shapes', () => {
  verifies('TOOL-5', 'for OpenAI chat completions and responses', () => {
    // The annotations are part of the test: the clients must take them without a cast.
    const chat: OpenAI.ChatCompletionTool[] = toOpenAi(listDocs);
    const responses: OpenAI.Responses.Tool[] = toOpenAiResponses(listDocs);
    expect(chat).toEqual([{ type: 'function', function: { name: 'skill_list_docs', description, parameters } }]);
    expect(responses).toEqual([{ type: 'function', name: 'skill_list_docs', description, parameters, strict: false }]);
  });

  verifies('TOOL-5', 'for Anthropic', () => {
    const tools: Anthropic.Tool[] = toAnthropic(listDocs);
    expect(tools).toEqual([{ name: 'skill_list_docs', description, input_schema: parameters }]);
  });

  verifies('TOOL-5', 'for the AI SDK: its own loop takes the tools and calls them', async () => {
    const { tools, actions } = fake(native);
    const usage = {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    };
    const model = new MockLanguageModelV3({
      doGenerate: [
        {
          content: [
            { type: 'tool-call', toolCallId: '1', toolName: 'load_skill', input: '{"skill": "pdf"}' },
            { type: 'tool-call', toolCallId: '2', toolName: 'read_resource', input: '{"skil": "pdf", "path": 5}' },
          ],
          finishReason: { unified: 'tool-calls', raw: undefined },
          usage,
          warnings: [],
        },
        {
          content: [{ type: 'text', text: 'Done.' }],
          finishReason: { unified: 'stop', raw: undefined },
          usage,
          warnings: [],
        },
      ],
    });
    const result = await generateText({ model, tools: toAiSdk(tools), prompt: 'Fill it.', stopWhen: stepCountIs(3) });
    expect(result.text).toBe('Done.');
    expect(actions).toEqual([{ type: 'load_skill', skill: 'pdf' }]);
    const [first] = result.steps;
    expect(first?.toolResults.map(({ output }) => String(output).split('\n')[0])).toMatchInlineSnapshot(`
      [
        "<skill_content name="pdf" source="project" dir="/skills/pdf" digest="sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa">",
        "unknown parameter "skil"; parameter "path" must be a string, not 5; parameter "skill" is missing: expected a string. The parameters are {skill: string, path: string, section?: string, from_line?: integer /* First line. */, to_line?: integer /* Last line. */, offset?: integer}. Nearest: skill.",
      ]
    `);
    const [call] = model.doGenerateCalls;
    expect(call?.tools?.[1]).toMatchObject({
      type: 'function',
      name: 'load_skill',
      inputSchema: { ...parameters, properties: { skill: { enum: ['csv', 'pdf'] } } },
    });
  });

  test('the AI SDK schema carries no value of ours in its JSON and lets every input through', () => {
    const { skill_list_docs: tool } = toAiSdk(listDocs);
    expect(tool?.inputSchema.jsonSchema).toEqual(parameters);
    expect(tool?.inputSchema['~standard'].jsonSchema.input()).toEqual(parameters);
    expect(tool?.inputSchema.validate(5)).toEqual({ success: true, value: 5 });
  });

  test('the signal of the AI SDK reaches the tool', async () => {
    const { skill_list_docs: tool } = toAiSdk(listDocs);
    await expect(tool?.execute({ skill: 'pdf' }, { abortSignal: AbortSignal.abort(new Error('no')) })).rejects.toThrow(
      'no',
    );
  });

  test('what is handed out is a copy', () => {
    const [tool] = toOpenAi(listDocs);
    tool?.function.parameters.required?.push('x');
    expect(toOpenAi(listDocs)[0]?.function.parameters.required).toEqual(['skill']);
  });

  test('a name that models cannot call is refused', () => {
    const [tool] = listDocs;
    if (tool === undefined) throw new Error('no tool');
    for (const shape of [toOpenAi, toOpenAiResponses, toAnthropic, toAiSdk]) {
      for (const name of ['', 'skill.load', 'x'.repeat(65), '技能']) {
        expect(() => shape([{ ...tool, name }])).toThrow('is not supported by model APIs');
      }
    }
  });
});
