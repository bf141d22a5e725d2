import { copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { defineConfig, type DefaultTheme, type MarkdownOptions } from 'vitepress';

import { PROJECT, linkTarget, sidebar, sitePaths } from './pages.ts';
import { slug } from './slug.ts';

const paths = sitePaths();
/** Files of the project that pages link to: examples, schemas, the license. */
const linkedFiles = new Set<string>();
const base = process.env['SITE_BASE'] ?? '/';

/** The site is made of `docs/` and the pages beside it; everything else in the project is not. */
const excluded = readdirSync(PROJECT, { withFileTypes: true })
  .filter(({ name }) => name !== 'docs' && !paths.has(name))
  .map((entry) => (entry.isDirectory() ? `${entry.name}/**` : entry.name));

interface LinkState {
  /** `path` is the file on the site; the source is elsewhere if the page was moved there. */
  readonly env: { readonly realPath?: string; readonly path: string };
  readonly tokens: readonly { readonly children: readonly LinkToken[] | null }[];
}

interface LinkToken {
  readonly type: string;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

/** Links are written for GitHub; each is turned into the address of its page on the site. */
const rewriteLinks: NonNullable<MarkdownOptions['config']> = (md) => {
  md.core.ruler.push('skillwright-links', ({ env, tokens }: LinkState) => {
    const page = path.relative(PROJECT, env.realPath ?? env.path);
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null;
      if (href === null) continue;
      const target = linkTarget(page, decodeURI(href), paths);
      if (target.file !== undefined) {
        linkedFiles.add(target.file);
        token.attrSet('target', '_blank');
      }
      token.attrSet('href', target.href);
    }
    return true;
  });
};

/**
 * Chinese has no spaces between words; the browser knows where they end. The text is cut at its spaces first, because each
 * segment keeps a copy of everything that was given to the segmenter. Without names from outside: its source is sent to the browser.
 */
const tokenize = (text: string): string[] => {
  const segmenter = new Intl.Segmenter('zh', { granularity: 'word' });
  return text
    .split(/\s+/)
    .flatMap((piece) => [...segmenter.segment(piece)].filter(({ isWordLike }) => isWordLike))
    .map(({ segment }) => segment.toLowerCase());
};

/** Pages that teach come before lists that mention everything. */
const boostDocument = (id: string): number =>
  /\/(?:conformance|requirements|changelog)\./.test(id) ? 0.1 : /\/(?:tutorials|how-to)\//.test(id) ? 2 : 1;

const english: DefaultTheme.Config = {
  nav: [
    { text: 'Tutorials', link: '/tutorials/first-skill' },
    { text: 'Commands', link: '/cli' },
    { text: 'Changes', link: '/changelog' },
  ],
  sidebar: [...sidebar('docs', ['Tutorials', 'How to', 'Guides', 'Reference'])],
};

const chinese: DefaultTheme.Config = {
  nav: [
    { text: '教程', link: '/zh/tutorials/first-skill' },
    { text: '命令', link: '/cli' },
    { text: '变更', link: '/changelog' },
  ],
  sidebar: [...sidebar('docs/zh', ['教程', '操作指南', '说明', '参考'])],
  outline: { level: [2, 3], label: '本页内容' },
  docFooter: { prev: '上一页', next: '下一页' },
  darkModeSwitchLabel: '外观',
  lightModeSwitchTitle: '切换到浅色',
  darkModeSwitchTitle: '切换到深色',
  sidebarMenuLabel: '菜单',
  returnToTopLabel: '回到顶部',
  langMenuLabel: '语言',
};

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1f57d6"/><text x="8" y="12.5" text-anchor="middle" font-family="sans-serif" font-weight="bold" font-size="12" fill="#fff">S</text></svg>';

/** `npm run site` builds it into `.cache/site`. */
export default defineConfig({
  title: 'Skillwright',
  description: 'The runtime for Agent Skills',
  base,
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(ICON)}` }]],
  srcDir: '..',
  srcExclude: [...excluded],
  rewrites: Object.fromEntries(paths),
  outDir: path.join(PROJECT, '.cache/site'),
  cacheDir: path.join(PROJECT, '.cache/vitepress'),
  cleanUrls: false,
  lastUpdated: false,
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  markdown: { html: false, anchor: { slugify: slug }, config: rewriteLinks },
  locales: {
    root: { label: 'English', lang: 'en', themeConfig: english },
    zh: { label: '中文', lang: 'zh-CN', themeConfig: chinese },
  },
  themeConfig: {
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        miniSearch: { options: { tokenize }, searchOptions: { boostDocument } },
        locales: {
          zh: {
            translations: {
              button: { buttonText: '搜索', buttonAriaLabel: '搜索' },
              modal: {
                displayDetails: '显示详细列表',
                resetButtonTitle: '清除',
                backButtonTitle: '关闭',
                noResultsText: '没有结果',
                footer: { selectText: '选择', navigateText: '切换', closeText: '关闭' },
              },
            },
          },
        },
      },
    },
  },
  buildEnd({ outDir }) {
    for (const file of linkedFiles) {
      const source = path.join(PROJECT, file);
      const copy = path.join(outDir, 'source', `${file}.txt`);
      mkdirSync(path.dirname(copy), { recursive: true });
      if (statSync(source).isDirectory()) writeFileSync(copy, `${readdirSync(source).join('\n')}\n`);
      else copyFileSync(source, copy);
    }
  },
});
