import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { nearest, quoted, SkillError } from '#core';
import { defineCommand } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { renderMarkdown } from '../terminal/markdown.ts';
import type { Terminal } from '../terminal/terminal.ts';

interface Page {
  /** The path below `docs/` without `.md`. */
  readonly topic: string;
  readonly title: string;
  readonly path: string;
}

export const command = defineCommand({
  usage: 'docs [TOPIC]',
  details:
    'Prints a page of the documentation that is part of this installation; without a topic, lists the topics. A terminal shows it formatted, a pipe gets the Markdown. TOPIC is a name from the list, or its last part.',
  flags: {},
  examples: [
    ['skillwright docs', 'list the topics'],
    ['skillwright docs first-skill', 'read the first tutorial'],
    ['skillwright docs zh/tutorials/first-skill', 'read it in Chinese'],
    ['skillwright docs policy | less', 'read a page in a pager'],
  ],
  positionals: [0, 1],
  run({ positionals: [topic], terminal }) {
    const all = pages(docsFolder());
    if (topic === undefined) {
      const listed = all.filter((page) => !page.topic.startsWith('zh/'));
      if (terminal.printJson({ topics: listed })) return Promise.resolve(EXIT.done);
      terminal.out(topicLines(listed, terminal));
      terminal.remark('read one: skillwright docs TOPIC');
      return Promise.resolve(EXIT.done);
    }
    const page = findPage(topic, all);
    const text = readFileSync(page.path, 'utf8');
    if (terminal.printJson({ ...page, text })) return Promise.resolve(EXIT.done);
    if (terminal.isAnswerOnTerminal) terminal.out(renderMarkdown(withoutComments(text), terminal));
    else terminal.out(text.trimEnd());
    return Promise.resolve(EXIT.done);
  },
});

function topicLines(listed: readonly Page[], terminal: Terminal): readonly string[] {
  const width = Math.max(...listed.map(({ topic }) => topic.length));
  return listed.map(({ topic, title }) => terminal.wrap(`  ${topic.padEnd(width)}  ${title}`, width + 4));
}

/** Messages of earlier versions cite `docs/agent.md`; that is understood as well. */
function findPage(typedTopic: string, all: readonly Page[]): Page {
  const normalized = typedTopic
    .replace(/^docs\//, '')
    .replace(/\.md$/, '')
    .toLowerCase();
  const found =
    all.find(({ topic }) => topic === normalized) ?? all.find(({ topic }) => path.posix.basename(topic) === normalized);
  if (found !== undefined) return found;
  const here = all.filter(({ topic }) => topic.startsWith('zh/') === normalized.startsWith('zh/'));
  const names = new Map(here.flatMap(({ topic }) => [[path.posix.basename(topic), topic] as const, [topic, topic]]));
  const similar = nearest(normalized, [...names.keys()]).map((name) => names.get(name) ?? name);
  const containing = here.filter(({ topic, title }) => `${topic} ${title}`.toLowerCase().includes(normalized));
  const near = new Set([...similar, ...containing.slice(0, 5).map(({ topic }) => topic)]);
  throw usageError(
    `unknown topic ${quoted(typedTopic, 100)}`,
    near.size === 0 ? 'list the topics: skillwright docs' : `did you mean ${[...near].join(', ')}?`,
  );
}

function pages(folder: string): readonly Page[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !file.startsWith('.'))
    .map((file): Page => {
      const [, title = file] = /^# (.*)$/m.exec(readFileSync(path.join(folder, file), 'utf8')) ?? [];
      const topic = file.slice(0, -'.md'.length).replaceAll('\\', '/');
      return { topic, title: title.replaceAll('`', ''), path: path.join(folder, file) };
    })
    .toSorted((a, b) => order(a.topic) - order(b.topic) || (a.topic < b.topic ? -1 : 1));
}

/** What a newcomer reads first: tutorials, then tasks, then everything else. */
function order(topic: string): number {
  return ['tutorials/', 'how-to/', ''].findIndex((start) => topic.startsWith(start));
}

function withoutComments(text: string): string {
  return text.replaceAll(/^<!--[^]*?-->\n/gm, '');
}

/** In the package and in a checkout, from the bundled command and from the sources. */
function docsFolder(): string {
  const folder = ['../../docs', '../../../docs']
    .map((place) => path.join(import.meta.dirname, place))
    .find((place) => existsSync(path.join(place, 'cli.md')));
  if (folder !== undefined) return folder;
  throw new SkillError({
    code: 'io/failed',
    message: 'the documentation is missing from this installation',
    hint: 'install skillwright again',
    data: { path: path.join(import.meta.dirname, '../../docs'), cause: 'missing' },
  });
}
