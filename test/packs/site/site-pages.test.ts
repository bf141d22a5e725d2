import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';

import { indexPage, skillPage, type PageSkill } from '../../../src/packs/site/site-pages.ts';

const HOSTILE = `</title></code></pre><script>alert(1)</script>"' onload=x <img src=x>`;

const skill: PageSkill = {
  name: 'evil',
  description: HOSTILE,
  version: HOSTILE,
  license: HOSTILE,
  compatibility: HOSTILE,
  allowedTools: [HOSTILE],
  digest: 'sha256-tree:1',
  files: { [HOSTILE]: { sha256: '1', bytes: 1 } },
  body: HOSTILE,
  pack: { path: 'packs/evil.zip', sha256: '1' },
};
const site = { title: HOSTILE, url: 'https://skills.example.com', key: { id: 'AB', line: HOSTILE } };
const pages = [indexPage(site, [skill]), skillPage(site, skill)];

test('every text of a skill is escaped', () => {
  for (const html of pages) {
    const tags = new Set([...html.matchAll(/<\/?([a-z0-9!]+)/gi)].map(([, name]) => name));
    const known =
      'a body code dd details dl dt footer h1 h2 head html li meta p pre span style summary title ul !doctype';
    expect([...tags].filter((tag) => !known.split(' ').includes(tag ?? ''))).toEqual([]);
    expect(html).not.toMatch(/<[^>]* on\w+=/);
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39; onload=x');
  }
});

test('pages allow their own style and nothing else, and read well on a phone', () => {
  for (const html of pages) {
    const style = /<style>([^]*?)<\/style>/.exec(html)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(html).toContain(
      `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'">`,
    );
    expect(html).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
    expect(html).not.toMatch(/<[^>]*\s(?:src|style)=|url\(|@import/);
    expect(style).toContain('prefers-color-scheme:dark');
    expect(style).toContain('overflow-wrap:anywhere');
  }
});

test('the install commands name the site', () => {
  expect(pages[0]).toContain('<pre><code>skillwright install https://skills.example.com</code></pre>');
  expect(pages[1]).toContain('<pre><code>skillwright install https://skills.example.com evil</code></pre>');
});
