import { escapeXml } from './text/text.ts';

export const CATALOG_FORMATS = ['xml', 'markdown', 'lines', 'list', 'expertise'] as const;
export type CatalogFormat = (typeof CATALOG_FORMATS)[number];

interface CatalogText {
  readonly name: string;
  readonly source: string;
  /** Empty if only the name is shown. */
  readonly description: string;
}

interface CatalogLayout {
  readonly open: string;
  readonly close: string;
  /** Formats one entry. The texts are already cleaned and on one line; this escapes them. */
  line(text: CatalogText): string;
}

/** Skill text must not close a tag of the surrounding prompt, whatever the format. */
const withoutTags = (text: string): string => text.replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export const CATALOG_LAYOUTS: Readonly<Record<CatalogFormat, CatalogLayout>> = {
  xml: {
    open: '<available_skills>',
    close: '</available_skills>',
    // Attributes cost fewer tokens than one element per value.
    line({ name, source, description }) {
      const open = `<skill name="${escapeXml(name)}" source="${escapeXml(source)}"`;
      return description === '' ? `${open}/>` : `${open}>${escapeXml(description)}</skill>`;
    },
  },
  markdown: {
    open: '## Available skills',
    close: '',
    line({ name, source, description }) {
      const about = description === '' ? '' : `: ${withoutTags(description)}`;
      return `- **${withoutTags(name)}** (${withoutTags(source)})${about}`;
    },
  },
  // The format of skills-agent.
  lines: {
    open: 'Available Skills:',
    close: '',
    line({ name, source, description }) {
      // An unescaped bar would look like a separator.
      const value = (text: string): string => withoutTags(text).replaceAll('|', '\\|');
      const about = description === '' ? '' : ` | description=${value(description)}`;
      return `- name=${value(name)} | source=${value(source)}${about}`;
    },
  },
  // The format of trpc.
  list: {
    open: 'Available skills:',
    close: '',
    line({ name, description }) {
      return `- ${withoutTags(name)}${description === '' ? '' : `: ${withoutTags(description)}`}`;
    },
  },
  // The format of ManusX, with its own heading and request.
  expertise: {
    open: '## Available Skills\n\nYou have access to the following domain expertise:',
    close: '\nWhen a task matches a skill, request its full content.',
    line: (text) => CATALOG_LAYOUTS.list.line(text),
  },
};
