import { list, text } from '../json/schema-of.ts';

/** A secret has exactly one source, so each variant requires its single key. */
export const SECRET_SOURCES = [
  {
    type: 'object',
    description: 'An environment variable.',
    additionalProperties: false,
    required: ['env'],
    properties: { env: text('Name of the variable.') },
  },
  {
    type: 'object',
    description: 'A file that only you can read.',
    additionalProperties: false,
    required: ['file'],
    properties: { file: text('Path of the file; ~ is the home folder.') },
  },
  {
    type: 'object',
    description: 'A program that prints the value.',
    additionalProperties: false,
    required: ['command'],
    properties: { command: list('The program and its arguments.', text('A word, passed on without a shell.'), 100) },
  },
] as const;
