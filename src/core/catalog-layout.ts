import { escapeXml } from './text/text.ts';

export const CATALOG_FORMATS = ['xml', 'markdown', 'lines', 'list'] as const;
export type CatalogFormat = (typeof CATALOG_FORMATS)[number];

interface CatalogText {
  readonly name: string;
  readonly source: string;
  /** Empty where only the name is shown. */
  readonly description: string;
}

interface CatalogLayout {
  readonly open: string;
  readonly close: string;
  /** One line; its texts are cleaned and on one line already, and are escaped here. */
  line(text: CatalogText): string;
}

/** Text of a skill must not close a tag of the prompt around it, whatever the format. */
const withoutTags = (text: string): string => text.replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export const CATALOG_LAYOUTS: Readonly<Record<CatalogFormat, CatalogLayout>> = {
  xml: {
    open: '<available_skills>',
    close: '</available_skills>',
    // Attributes, because an element for each value would cost as many tokens as a short description.
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
  // The lines of skills-agent.
  lines: {
    open: 'Available Skills:',
    close: '',
    line({ name, source, description }) {
      // A bar inside a value would look like the start of the next one.
      const value = (text: string): string => withoutTags(text).replaceAll('|', '\\|');
      const about = description === '' ? '' : ` | description=${value(description)}`;
      return `- name=${value(name)} | source=${value(source)}${about}`;
    },
  },
  // The list of trpc and ManusX.
  list: {
    open: 'Available skills:',
    close: '',
    line({ name, description }) {
      return `- ${withoutTags(name)}${description === '' ? '' : `: ${withoutTags(description)}`}`;
    },
  },
};
