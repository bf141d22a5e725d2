import { expect, test } from 'vitest';

import { markdownHtml } from '../../../src/packs/site/markdown-html.ts';

test('renders what skills use', () => {
  const text = [
    '# Title',
    '',
    'A **bold** word, `code <b>` and [a link](https://example.org/a?b=1&c=2).',
    'Second line.',
    '',
    '- one',
    '  more of one',
    '  - deeper',
    '1. first',
    '',
    '> said',
    '',
    '| a | b |',
    '|---|---|',
    '',
    '```sh',
    'rm -rf "$X" # <&>',
    '```',
  ].join('\n');
  expect(markdownHtml(text)).toBe(
    [
      '<h2>Title</h2>',
      '<p>A <strong>bold</strong> word, <code>code &lt;b&gt;</code> and <a href="https://example.org/a?b=1&amp;c=2" rel="nofollow noreferrer">a link</a>.\nSecond line.</p>',
      '<ul><li class="d0">one\nmore of one</li><li class="d1">deeper</li><li class="d0">first</li></ul>',
      '<blockquote><p>said</p></blockquote>',
      '<pre><code>| a | b |\n|---|---|</code></pre>',
      '<pre><code>rm -rf &quot;$X&quot; # &lt;&amp;&gt;</code></pre>',
    ].join('\n'),
  );
});

test('hostile text stays text', () => {
  const hostile = [
    '<script>alert(1)</script>',
    '[x](javascript:alert(1))',
    '[x](https://a.test/"onmouseover=alert(1))',
    '![x](https://a.test/pixel.png)',
    '`<img src=x onerror=alert(1)>`',
    '**<b onclick=x>**',
    '# <svg/onload=alert(1)>',
    '- <a href="javascript:x">y</a>',
    '> </blockquote><script>',
    '| </code></pre><script> |',
    '```\n</code></pre><script>\n```',
    '```',
    '</code></pre><script> in a fence that never ends',
  ].join('\n\n');
  const html = markdownHtml(hostile);
  const tags = [...html.matchAll(/<[^>]*>/g)].map(([tag]) => tag);
  const ours =
    /^<\/?(?:p|h2|ul|li|strong|code|pre|blockquote|li class="d0"|a|a href="https:\/\/a\.test\/[^"]*" rel="nofollow noreferrer")>$/;
  expect(tags.filter((tag) => !ours.test(tag))).toEqual([]);
  expect(markdownHtml('a\u202eb\u0000\u001b[31m')).toBe(String.raw`<p>a\u{202e}b\x00\x1b[31m</p>`);
});

test('large and strange texts take linear time', () => {
  const before = process.cpuUsage();
  for (const text of [
    '['.repeat(200_000),
    '`'.repeat(200_000),
    '**'.repeat(100_000),
    '- '.repeat(100_000),
    '\n'.repeat(300_000),
    '> '.repeat(100_000),
  ])
    markdownHtml(text);
  // Time on the processor, because a busy machine takes longer.
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(5_000);
  expect(markdownHtml('x '.repeat(300_000))).toContain('The rest is in the file.');
});
