/** The HTML pages of a site: no script, no request, everything from skills escaped. */
import { createHash } from 'node:crypto';

import { countText, escapeXml, printable } from '#core';
import type { LockedFile } from '../lock/lock.ts';
import { markdownHtml } from './markdown-html.ts';
import { SITE_STYLE } from './site-style.ts';

export interface PageSkill {
  readonly name: string;
  readonly description: string;
  readonly version?: string;
  readonly license?: string;
  readonly compatibility?: string;
  readonly allowedTools?: readonly string[];
  /** `sha256-tree:<hex>` of the files. */
  readonly digest: string;
  readonly files: Readonly<Record<string, LockedFile>>;
  /** Markdown after the frontmatter. */
  readonly body: string;
  /** The pack, relative to the top of the site. */
  readonly pack: { readonly path: string; readonly sha256: string };
}

export interface PageSite {
  readonly title: string;
  /** Address of the site for install commands; absent if it is not known yet. */
  readonly url?: string;
  /** The key that signed the packs. */
  readonly key?: { readonly id: string; readonly line: string };
}

/** Also sent as a header by hosts that read `_headers`. */
export const SITE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(SITE_STYLE, 'utf8').digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

export function indexPage(site: PageSite, skills: readonly PageSkill[]): string {
  const items = skills.map(
    ({ name, description, version }) =>
      `<li><a href="skills/${text(name)}/">${text(name)}</a>${version === undefined ? '' : ` <span class="dim">${text(version)}</span>`}<p>${text(description)}</p></li>`,
  );
  return page(site.title, [
    `<h1>${text(site.title)}</h1>`,
    `<p>${countText(skills.length, 'skill')}. Install all of them:</p>`,
    command(`skillwright install ${place(site)}`),
    ...keyLines(site),
    `<ul class="skills">${items.join('\n')}</ul>`,
    footer(''),
  ]);
}

export function skillPage(site: PageSite, skill: PageSkill): string {
  const { name, description, version, license, compatibility, allowedTools, digest, files, body, pack } = skill;
  const paths = Object.entries(files);
  return page(`${name} · ${site.title}`, [
    `<p><a href="../../">${text(site.title)}</a></p>`,
    `<h1>${text(name)}</h1>`,
    `<p>${text(description)}</p>`,
    command(`skillwright install ${place(site)} ${name}`),
    '<dl>',
    ...row('version', version),
    ...row('license', license),
    ...row('needs', compatibility),
    ...row('tools', allowedTools?.join(' ')),
    `<dt>pack</dt><dd><a href="../../${text(pack.path)}">${text(pack.path.slice(pack.path.lastIndexOf('/') + 1))}</a>${site.key === undefined ? '' : ` (<a href="../../${text(pack.path)}.minisig">signature</a> by ${text(site.key.id)})`}</dd>`,
    `<dt>sha256</dt><dd><code>${text(pack.sha256)}</code></dd>`,
    `<dt>digest</dt><dd><code>${text(digest)}</code></dd>`,
    '</dl>',
    `<details><summary>${countText(paths.length, 'file')}</summary><ul>`,
    ...paths.map(([at, file]) => `<li>${text(at)} <span class="dim">${fileNote(file)}</span></li>`),
    '</ul></details>',
    '<h2>Instructions</h2>',
    markdownHtml(body),
    footer('../../'),
  ]);
}

function keyLines({ key }: PageSite): readonly string[] {
  if (key === undefined) return [];
  return [
    `<p>The packs are signed with the key ${text(key.id)}. Confirm it over a second channel, then pin it:</p>`,
    command(`skillwright keys add NAME ${key.line}`),
  ];
}

function place({ url }: PageSite): string {
  return url ?? 'URL-OF-THIS-SITE';
}

function fileNote({ bytes, executable }: LockedFile): string {
  return `${String(bytes)} bytes${executable === true ? ', executable' : ''}`;
}

function row(label: string, value: string | undefined): readonly string[] {
  return value === undefined || value === '' ? [] : [`<dt>${label}</dt><dd>${text(value)}</dd>`];
}

function command(words: string): string {
  return `<pre><code>${text(words)}</code></pre>`;
}

/** `top`: the way from the page to the top of the site, which need not be the top of its host. */
function footer(top: string): string {
  return `<footer><p>Agents find these skills in <a href="${top}.well-known/agent-skills/index.json">.well-known/agent-skills/index.json</a>.</p></footer>`;
}

function page(title: string, body: readonly string[]): string {
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${SITE_POLICY}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="referrer" content="no-referrer">',
    `<title>${text(title)}</title>`,
    `<style>${SITE_STYLE}</style>`,
    '</head>',
    '<body>',
    ...body,
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

/** Text of a skill in HTML: nothing hidden, nothing interpreted. */
function text(value: string): string {
  return escapeXml(printable(value));
}
