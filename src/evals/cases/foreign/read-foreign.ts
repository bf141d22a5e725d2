/** Recognizes suites of other tools by their content, and reads them. */
import path from 'node:path';

import { isObject } from '#core';
import type { CaseFile } from '../draft.ts';
import type { ForeignCase, ForeignFiles } from './foreign-case.ts';
import { isInspectSample, readInspectSample } from './inspect.ts';
import { isMarkdown, readMarkdownCase } from './markdown-case.ts';
import { isPluginCase, readPluginCase } from './plugin-case.ts';
import { isPromptfooConfig, isPromptfooTest, readPromptfooConfig, readPromptfooTests } from './promptfoo.ts';
import { isWazaSuite, isWazaTask, readWazaSuite, readWazaTask } from './waza.ts';

export type ForeignShape = 'waza' | 'promptfoo' | 'plugin-case' | 'inspect' | 'eval-md';

export type ForeignReading =
  | { readonly type: 'cases'; readonly shape: ForeignShape; readonly cases: readonly ForeignCase[] }
  | { readonly type: 'other'; readonly reason: string };

/** Returns undefined if the file belongs to no other tool. */
export function readForeign(file: CaseFile, value: unknown, files: ForeignFiles): ForeignReading | undefined {
  const found = (shape: ForeignShape, cases: readonly ForeignCase[]): ForeignReading => ({
    type: 'cases',
    shape,
    cases,
  });
  if (isMarkdown(value)) {
    if (path.basename(file.report.file) === 'prompt.md') {
      const { head, body } = value;
      const execution = { ...head, prompt: body.trim() };
      return found('plugin-case', readPluginCase(file, { ...head, execution }, files));
    }
    const read = readMarkdownCase(file, value);
    return typeof read === 'string' ? { type: 'other', reason: read } : found('eval-md', [read]);
  }
  if (Array.isArray(value)) {
    if (value.some(isInspectSample) && value.every((item) => isInspectSample(item) || !isObject(item)))
      return found(
        'inspect',
        value.flatMap((item, place) => (isInspectSample(item) ? [readInspectSample(file, item, [place])] : [])),
      );
    if (value.some(isPromptfooTest)) return found('promptfoo', readPromptfooTests(file, value, files));
    if (value.some(isWazaTask))
      return found(
        'waza',
        value.flatMap((task, place) => readWazaTask(file, task, [place], files)),
      );
    return undefined;
  }
  if (!isObject(value)) return undefined;
  if (isPromptfooConfig(value)) return found('promptfoo', readPromptfooConfig(file, value, files));
  if (isPluginCase(value)) return found('plugin-case', readPluginCase(file, value, files));
  if (isWazaSuite(value)) return found('waza', readWazaSuite(file, value, files));
  return isWazaTask(value) ? found('waza', readWazaTask(file, value, [], files)) : undefined;
}
