/** A secret has exactly one source, so each variant requires its single key. */
export const SECRET_SOURCES = [
  {
    type: 'object',
    description: 'An environment variable.',
    additionalProperties: false,
    required: ['env'],
    properties: { env: { type: 'string', description: 'Name of the variable.' } },
  },
  {
    type: 'object',
    description: 'A file that only you can read.',
    additionalProperties: false,
    required: ['file'],
    properties: { file: { type: 'string', description: 'Path of the file; ~ is the home folder.' } },
  },
  {
    type: 'object',
    description: 'A program that prints the value.',
    additionalProperties: false,
    required: ['command'],
    properties: {
      command: {
        type: 'array',
        description: 'The program and its arguments.',
        maxItems: 100,
        items: { type: 'string', description: 'A word, passed on without a shell.' },
      },
    },
  },
] as const;
