import type { DeclaredTool } from '../core/tool.ts';
import { inputOf, text } from './parameters.ts';

/** What skills-agent names beside loading and reading: the contract, until there is something to do it with. */
export const ACTIONS_DECLARED: readonly DeclaredTool[] = [
  {
    name: 'grep',
    description: 'Find lines in the files of a skill.',
    schema: () =>
      inputOf('What to find.', { pattern: text('A regular expression.'), path: text('A file or folder of a skill.') }, [
        'pattern',
        'path',
      ]),
  },
  {
    name: 'write_file',
    description: 'Write a file.',
    schema: () =>
      inputOf('Which file.', { path: text('Where it goes.'), content: text('What it will hold.') }, [
        'path',
        'content',
      ]),
  },
  {
    name: 'delete_file',
    description: 'Delete a file.',
    schema: () => inputOf('Which file.', { path: text('The file.') }, ['path']),
  },
  {
    name: 'network_request',
    description: 'Ask a server.',
    schema: () =>
      inputOf(
        'The request.',
        {
          url: text('The address.'),
          method: { type: 'string', description: 'The method.', default: 'GET' },
          headers: { type: 'object', description: 'Headers.', additionalProperties: text('Its value.') },
          body: text('What is sent.'),
        },
        ['url'],
      ),
  },
];
