/** A vocabulary of one's own: two tools, `use` and `open`, over the same actions as every other. */
import type { Offer, ToolRow, Vocabulary } from 'skillwright/tools';

const string = (description: string) => ({ type: 'string', description }) as const;
const hasSkills = ({ skills }: Offer): boolean => skills.length > 0;

const use: ToolRow = {
  name: 'use',
  description: 'Get the instructions of a skill before you work with it.',
  action: 'load_skill',
  schema: () => ({
    type: 'object',
    description: 'Which skill.',
    properties: { skill: string('Its name.') },
    required: ['skill'],
    additionalProperties: false,
  }),
  isOffered: hasSkills,
  toActions: ({ skill }) => [{ type: 'load_skill', skill: String(skill) }],
  toResult: ([loaded]) => (loaded?.type === 'skill-loaded' ? loaded.text || 'you have it already' : ''),
};

const open: ToolRow = {
  name: 'open',
  description: 'Read a file of a skill.',
  action: 'read_resource',
  schema: () => ({
    type: 'object',
    description: 'Which file.',
    properties: { file: string('<skill>/<path>') },
    required: ['file'],
    additionalProperties: false,
  }),
  isOffered: hasSkills,
  toActions({ file }, offer) {
    const found = offer.locate(String(file));
    if (found !== undefined) return [{ type: 'read_resource', ...found }];
    // Refused before it is an action; it counts as a failed one.
    return { code: 'path/not-offered', message: 'that file is in no skill', hint: 'name the skill first', nearest: [] };
  },
  toResult: ([read]) => (read?.type === 'resource-read' ? { file: read.report.path, text: read.text } : {}),
};

export const pocket: Vocabulary = {
  name: 'pocket',
  tools: [use, open],
  loadTool: 'use',
  catalogFormat: 'list',
  guidance: (offered) => (offered.includes('use') ? 'Call use with the name of a skill before you work with it.' : ''),
  showLoaded: ({ name, text }) => `# ${name}\n\n${text}`,
  toFailure: ({ message, hint, nearest }) =>
    `${message}; ${hint}${nearest.length > 0 ? ` (${nearest.join(', ')})` : ''}`,
};
