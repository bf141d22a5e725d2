import path from 'node:path';

import { checkConfig, SkillError, withValue } from '#core';
import { makeFolders, readCheckedJson, writeTextFile } from '#platform';
import { CONFIG_FILE, readSurroundings } from '#runtime';
import { askStreams, choose } from '../terminal/ask.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { wrapWords } from '../terminal/wrap.ts';

/** Asks whether programs may run under landlock, where nothing else isolates. Without a terminal the answer is no. */
export async function askForWeaker(terminal: Terminal, gaps: readonly string[]): Promise<boolean> {
  const file = userConfigFile();
  const text = [
    'This machine has no user namespaces, bubblewrap or container engine for programs, only the weaker sandbox landlock (skillwright doctor shows why).',
    'Under landlock a script reaches no network and reads none of your other files, but it',
    ...gaps.map((gap) => `  - ${gap}`),
    'Allow the weaker sandbox?',
  ].map((line) => wrapWords(line, { width: terminal.width, indent: line.startsWith('  - ') ? 4 : 0 }));
  const choices = [
    { key: 'y', about: 'yes, this time', answer: 'once' },
    ...(file === undefined
      ? []
      : [{ key: 'a', about: 'always: sets execution.allow_weaker in ~/.agent/config.json', answer: 'always' }]),
    { key: 'n', about: 'no', answer: 'no' },
  ];
  const { signal } = new AbortController();
  const answer = await choose(askStreams(process), { text: text.join('\n'), choices, otherwise: 'no' }, { signal });
  if (answer === 'always' && file !== undefined) allowWeaker(file);
  return answer === 'once' || answer === 'always';
}

function userConfigFile(): string | undefined {
  const { cwd, home } = readSurroundings({});
  return home === undefined ? undefined : path.join(path.resolve(cwd, home), CONFIG_FILE);
}

/** Throws `config/invalid` rather than replace a file that cannot be read. */
function allowWeaker(file: string): void {
  const read = readCheckedJson(file, checkConfig);
  if (read.type === 'invalid')
    throw new SkillError({
      code: 'config/invalid',
      message: `${file} is not changed: ${read.diagnostics[0]?.message ?? 'it is invalid'}`,
      hint: 'correct the file (skillwright config), then add "execution": { "allow_weaker": true }',
      data: { path: file },
    });
  const before = read.type === 'read' ? read.value : {};
  const text = `${JSON.stringify(withValue(before, ['execution', 'allow_weaker'], true), undefined, 2)}\n`;
  makeFolders(path.dirname(file), 0o700);
  writeTextFile(file, text);
}
