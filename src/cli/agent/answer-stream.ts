import { cleanText } from '#core';
import { monotonicMs, textWidth } from '#platform';
import { QUESTION_MARK } from '../terminal/approval-summary.ts';
import { openMarkdown, renderMarkdown } from '../terminal/markdown.ts';
import type { MarkdownLook } from '../terminal/markdown-inline.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface AnswerStream {
  /** Starts a new text: the text before it was not the answer. */
  begin(): void;
  add(text: string): void;
  interrupt(): void;
  end(answer: string): void;
}

/** Drawing more often costs time and shows nothing that can be read. */
const REDRAW_MS = 50;

/**
 * Streams an answer to stdout as Markdown, if stdout is a terminal. A block is printed when it is complete; the growing block is shown and
 * drawn again. Elsewhere the answer is printed as the model wrote it, when it is complete.
 */
export function openAnswerStream(terminal: Terminal): AnswerStream {
  const look = (): MarkdownLook => toMarkdownLook(terminal);
  const markdown = openMarkdown(look);
  const screen = openRedraw(terminal);
  let text = '';
  let isBegun = false;
  let drawnAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const draw = (): void => {
    clearTimeout(timer);
    timer = undefined;
    drawnAt = monotonicMs();
    screen.draw(markdown.growing());
  };
  const interrupt = (): void => {
    clearTimeout(timer);
    timer = undefined;
    screen.print(markdown.end());
  };
  return {
    begin() {
      interrupt();
      text = '';
      isBegun = false;
    },
    add(piece) {
      if (!terminal.isAnswerOnTerminal) return;
      text += piece;
      if (!isBegun && text.trim() !== '') {
        isBegun = true;
        terminal.out('');
      }
      const done = markdown.add(unmarked(piece));
      if (done.length > 0) screen.print(done);
      if (!terminal.isRedrawn) return;
      const waitMs = drawnAt + REDRAW_MS - monotonicMs();
      if (waitMs <= 0 || done.length > 0) draw();
      else timer ??= setTimeout(draw, waitMs).unref();
    },
    interrupt,
    end(answer) {
      const isShown = text !== '' && text.trim() === answer.trim();
      interrupt();
      text = '';
      if (isShown) return;
      if (terminal.isAnswerOnTerminal) terminal.out('');
      terminal.out(terminal.isAnswerOnTerminal ? renderMarkdown(unmarked(answer), look()) : cleanText(answer));
    },
  };
}

/** A model must not imitate the question of an approval. */
function unmarked(text: string): string {
  return text.replaceAll(QUESTION_MARK, '◇');
}

function toMarkdownLook({ style, isColored, width }: Terminal): MarkdownLook {
  return { style, isColored, width };
}

interface Redraw {
  /** Replaces what was drawn by lines that stay. */
  print(lines: readonly string[]): void;
  /** Replaces what was drawn. Of lines that do not fit on the screen, the last ones are shown. */
  draw(lines: readonly string[]): void;
}

function openRedraw(terminal: Terminal): Redraw {
  let drawn: readonly string[] = [];
  const rowsOf = (line: string): number => Math.max(1, Math.ceil(textWidth(line) / terminal.width));
  const replace = (lines: readonly string[]): void => {
    let same = 0;
    while (same < drawn.length && drawn[same] === lines[same]) same += 1;
    const rows = drawn.slice(same).reduce((sum, line) => sum + rowsOf(line), 0);
    const up = rows === 0 ? '' : `\u001B[${String(rows)}A\r\u001B[J`;
    const added = lines.slice(same).map((line) => `${line}\n`);
    if (up !== '' || added.length > 0) terminal.pass('stdout', up + added.join(''));
  };
  const fitting = (lines: readonly string[]): readonly string[] => {
    let room = Math.max(2, terminal.rows - 2);
    const from = lines.findLastIndex((line) => (room -= rowsOf(line)) < 0);
    return lines.slice(from + 1);
  };
  return {
    print(lines) {
      if (lines.length === 0 && drawn.length === 0) return;
      replace(lines);
      drawn = [];
    },
    draw(lines) {
      const shown = fitting(lines);
      replace(shown);
      drawn = shown;
    },
  };
}
