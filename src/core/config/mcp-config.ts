import { SECRET_SOURCES } from './secret-config.ts';

const VALUES = {
  type: 'object',
  additionalProperties: {
    description: 'A source, or a text that is not secret.',
    anyOf: [...SECRET_SOURCES, { type: 'string', description: 'The value itself; the file shows it.' }],
  },
} as const;

/** One entry of `mcp_servers` in `.agent/config.json`. */
const MCP_SERVER_SCHEMA = {
  type: 'object',
  description: 'One server: a program that is started, or an address.',
  additionalProperties: false,
  properties: {
    command: { type: 'string', description: 'Program of a local server, such as npx.' },
    args: {
      type: 'array',
      description: 'Arguments of the program.',
      maxItems: 200,
      items: { type: 'string', description: 'A word, passed on without a shell.' },
    },
    env: {
      ...VALUES,
      description: 'Environment variables of the program, which inherits no others but PATH, HOME and the locale.',
    },
    url: {
      type: 'string',
      description: 'Address of a server that speaks streamable HTTP: https, or http on this machine.',
    },
    headers: { ...VALUES, description: 'Headers of each request.' },
    bearer: { description: 'Source of the token that each request carries.', anyOf: SECRET_SOURCES },
    tools: {
      type: 'array',
      description: 'Names of the tools to offer, * for any characters. Default: all.',
      maxItems: 500,
      items: { type: 'string', description: 'A name as the server writes it, such as issues_*.' },
    },
    skills: { type: 'boolean', description: 'Use the skills that the server offers; each needs trust.', default: true },
    enabled: { type: 'boolean', description: 'Use the server.', default: true },
    connect_timeout_seconds: {
      type: 'integer',
      description: 'How long connecting may take.',
      minimum: 1,
      maximum: 600,
      default: 20,
    },
    timeout_seconds: {
      type: 'integer',
      description: 'How long a call may take.',
      minimum: 1,
      maximum: 3_600,
      default: 60,
    },
  },
} as const;

/** The key `mcp_servers`. */
export const MCP_SERVERS_SCHEMA = {
  type: 'object',
  description: 'MCP servers whose tools and skills the agent may use, by name; only in the user file.',
  additionalProperties: MCP_SERVER_SCHEMA,
} as const;
