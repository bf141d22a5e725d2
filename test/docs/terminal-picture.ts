/** A terminal as an SVG picture: lines with colors, which appear one after the other, and stay where motion is not wanted. */

export interface Shown {
  readonly command: string;
  /** Lines with the escape sequences for colors. */
  readonly output: readonly string[];
}

const COLUMNS = 80;
const [CHARACTER, LINE, SIDE, TOP] = [8.4, 19, 18, 46] as const;
const COLORS: Readonly<Record<string, string>> = {
  '31': '#ff7b72',
  '32': '#56d364',
  '33': '#e3b341',
  '34': '#79c0ff',
  '36': '#76e3ea',
};
/** Milliseconds before a command, and before each line of its output. */
const [PAUSE, STEP] = [900, 90] as const;

export function terminalPicture(shown: readonly Shown[], title: string): string {
  const rows: string[] = [];
  let at = 0;
  const add = (line: string, wait: number): void => {
    at += wait;
    const y = TOP + rows.length * LINE;
    rows.push(
      line === ''
        ? ''
        : `<text class="l" style="animation-delay:${String(at)}ms" x="${String(SIDE)}" y="${String(y)}">${spans(line)}</text>`,
    );
  };
  for (const [index, { command, output }] of shown.entries()) {
    if (index > 0) add('', 0);
    for (const [part, line] of commandLines(command).entries()) add(line, part === 0 ? PAUSE : 0);
    for (const line of output) add(line, STEP);
  }
  const width = Math.round(COLUMNS * CHARACTER + 2 * SIDE);
  const height = TOP + rows.length * LINE + 4;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="640" viewBox="0 0 ${String(width)} ${String(height)}" role="img" aria-label="${escaped(title)}">`,
    `<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#e6edf3;white-space:pre}.p{fill:#7ee787}.b{font-weight:bold}.d{fill:#8b949e}.l{animation:show 1ms both}@keyframes show{from{opacity:0}to{opacity:1}}@media (prefers-reduced-motion:reduce){.l{animation:none}}</style>`,
    `<rect width="100%" height="100%" rx="8" fill="#0d1117"/>`,
    ...['#ff5f57', '#febc2e', '#28c840'].map(
      (fill, index) => `<circle cx="${String(20 + index * 18)}" cy="18" r="5.5" fill="${fill}"/>`,
    ),
    ...rows.filter((row) => row !== ''),
    '</svg>',
    '',
  ].join('\n');
}

/** The text of a picture: one line for each line that is not empty. */
export function pictureText(svg: string): readonly string[] {
  return [...svg.matchAll(/<text[^>]*>(.*?)<\/text>/g)].map(([, content = '']) =>
    content
      .replaceAll(/<[^>]+>/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&')
      .trimEnd(),
  );
}

/** A long command is continued on the next line, as a person would write it. */
function commandLines(command: string): readonly string[] {
  const text = `\u001B[prompt]$ \u001B[0m${command}`;
  const at = command.length <= COLUMNS - 2 ? -1 : command.lastIndexOf(' --', COLUMNS - 4);
  if (at === -1) return [text];
  return [`\u001B[prompt]$ \u001B[0m${command.slice(0, at)} \\`, `   ${command.slice(at)}`];
}

function spans(line: string): string {
  let [color, isBold, isDim, isPrompt] = ['', false, false, false];
  const pieces: string[] = [];
  for (const piece of line.split(/(\u001B\[(?:[\d;]*m|[a-z]+\]))/)) {
    const code = /^\u001B\[([\d;]*|[a-z]+)[m\]]$/.exec(piece)?.[1];
    if (code === undefined) {
      if (piece === '') continue;
      const names = [isPrompt ? 'p' : '', isBold ? 'b' : '', isDim ? 'd' : ''].filter((name) => name !== '').join(' ');
      const attributes = `${names === '' ? '' : ` class="${names}"`}${color === '' ? '' : ` style="fill:${color}"`}`;
      pieces.push(attributes === '' ? escaped(piece) : `<tspan${attributes}>${escaped(piece)}</tspan>`);
      continue;
    }
    for (const part of code.split(';')) {
      if (part === 'prompt') isPrompt = true;
      else if (part === '0' || part === '') [color, isBold, isDim, isPrompt] = ['', false, false, false];
      else if (part === '1') isBold = true;
      else if (part === '2') isDim = true;
      else if (part === '22') [isBold, isDim] = [false, false];
      else if (part === '39') color = '';
      else color = COLORS[part] ?? color;
    }
  }
  return pieces.join('');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
