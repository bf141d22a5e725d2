/** The style of the site. Its hash is in the content security policy of each page, so nothing else can style a page. */
export const SITE_STYLE = `
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
