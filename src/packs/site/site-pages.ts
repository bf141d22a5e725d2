/** The HTML pages of a site: no script, no request, everything from skills escaped. */
import { createHash } from 'node:crypto';

import { countText, escapeXml, printable, type SkillHead } from '#core';
import type { ManifestSkill } from '../pack/manifest.ts';
import { markdownHtml } from './markdown-html.ts';

/** The style of the site. Its hash is in the content security policy of each page, so nothing else can style a page. */
const SITE_STYLE = `
:root{color-scheme:light dark;--ink:#1b1f24;--dim:#57606a;--line:#d0d7de;--paper:#fff;--soft:#f6f8fa;--link:#0550ae}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--dim:#9da7b3;--line:#30363d;--paper:#0d1117;--soft:#161b22;--link:#79b8ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:46rem;padding:1rem;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,sans-serif;overflow-wrap:anywhere}
a{color:var(--link)}
h1{font-size:1.6rem;line-height:1.2}h2{font-size:1.25rem;margin-top:2rem}h3{font-size:1.1rem}
pre{background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:.7rem;white-space:pre-wrap}
code{font:.875em/1.5 ui-monospace,monospace;background:var(--soft)}
pre code{background:none}
dl{display:grid;grid-template-columns:minmax(5rem,auto) 1fr;gap:.3rem 1rem;margin:1rem 0}
dt{color:var(--dim)}dd{margin:0;min-width:0}
ul{padding-left:1.3rem}.d1{margin-left:1rem}.d2{margin-left:2rem}.d3{margin-left:3rem}
.skills{list-style:none;padding:0}.skills li{border-top:1px solid var(--line);padding:.8rem 0}
.skills p{margin:.2rem 0}.dim,footer{color:var(--dim);font-size:.875rem}
blockquote{margin:1rem 0;padding-left:1rem;border-left:3px solid var(--line)}
summary{cursor:pointer}
`.trim();

export interface PageSkill extends ManifestSkill, Pick<SkillHead, 'description' | 'license' | 'compatibility'> {
  readonly allowedTools?: readonly string[];
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

/** An Agent Plugin, which has no page of its own. */
interface PagePlugin {
  readonly name: string;
  readonly version?: string;
  /** Relative to the top of the site. */
  readonly pack: string;
  readonly sha256: string;
}

function pluginItem(site: PageSite, { name, version, pack, sha256 }: PagePlugin): string {
  const address = site.url === undefined ? pack : `${site.url.replace(/^well-known:/, '')}/${pack}`;
  const signature = site.key === undefined ? '' : ` <a href="${text(pack)}.minisig">signature</a>`;
  return `<li><a href="${text(pack)}">${text(name)}</a>${version === undefined ? '' : ` <span class="dim">${text(version)}</span>`}${signature}${command(`skillwright install ${address}`)}<p class="dim">sha256 ${text(sha256)}</p></li>`;
}

export function indexPage(site: PageSite, skills: readonly PageSkill[], plugins: readonly PagePlugin[] = []): string {
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
    ...(plugins.length === 0
      ? []
      : [
          '<h2>Plugins</h2>',
          `<ul class="skills">${plugins.map((plugin) => pluginItem(site, plugin)).join('\n')}</ul>`,
        ]),
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
    ...paths.map(
      ([at, file]) =>
        `<li>${text(at)} <span class="dim">${String(file.bytes)} bytes${file.executable === true ? ', executable' : ''}</span></li>`,
    ),
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
