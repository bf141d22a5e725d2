/** Which skills are loaded in a session, by the tool calls that the transcript of the agent records. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

import { isSystemError, OPEN_FLAGS } from '#platform';

/** A transcript can have hundreds of megabytes; older calls are likely to be compacted away. */
const MAX_BYTES = 4_000_000;
/** What a line of a transcript has if it records a tool call. The text of a hint has none of them. */
const CALL_MARKS = [
  '"tool_use"',
  '"function_call"',
  '"custom_tool_call"',
  '"functionCall"',
  '"toolCalls"',
  '"tool_calls"',
  '"toolCall"',
  '"tool.execution_start"',
  '"skill.invoked"',
  '<command-name>',
];
const COMPACTED = '"compact_boundary"';

/** The lines of a transcript that record tool calls, since the conversation was compacted. None if it cannot be read. */
export function readCalls(transcript: string): readonly string[] {
  const text = readEnd(transcript);
  return text
    .slice(Math.max(0, text.lastIndexOf(COMPACTED)))
    .split('\n')
    .filter((line) => CALL_MARKS.some((mark) => line.includes(mark)));
}

/** Whether one of the calls names the skill in a field, or the path of its SKILL.md. */
export function isLoaded(
  { name, path }: { readonly name: string; readonly path: string },
  calls: readonly string[],
): boolean {
  const marks = [`"skill":"${name}"`, `"name":"${name}"`, `<command-name>/${name}<`, JSON.stringify(path).slice(1, -1)];
  return calls.some((call) => {
    // Arguments of a call are JSON inside a JSON string in some transcripts.
    const plain = call.replaceAll('\\"', '"').replaceAll(/":\s+"/g, '":"');
    return marks.some((mark) => plain.includes(mark));
  });
}

function readEnd(file: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, OPEN_FLAGS.namedFile);
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return '';
    const bytes = Buffer.allocUnsafe(Math.min(stats.size, MAX_BYTES));
    const length = readSync(descriptor, bytes, 0, bytes.length, stats.size - bytes.length);
    return bytes.toString('utf8', 0, length);
  } catch (error) {
    if (isSystemError(error)) return '';
    throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
