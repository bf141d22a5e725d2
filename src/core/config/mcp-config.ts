import { SECRET_SOURCES } from './secret-config.ts';
import { count, flag, list, map, section, text } from '../json/schema-of.ts';

const VALUE = {
  description: 'A source, or a text that is not secret.',
  anyOf: [...SECRET_SOURCES, text('The value itself; the file shows it.')],
} as const;

/** One entry of `mcp_servers` in `.agent/config.json`. */
const MCP_SERVER_SCHEMA = section('One server: a program that is started, or an address.', {
  command: text('Program of a local server, such as npx.'),
  args: list('Arguments of the program.', text('A word, passed on without a shell.'), 200),
  env: map('Environment variables of the program, which inherits no others but PATH, HOME and the locale.', VALUE),
  url: text('Address of a server that speaks streamable HTTP: https, or http on this machine.'),
  headers: map('Headers of each request.', VALUE),
  bearer: { description: 'Source of the token that each request carries.', anyOf: SECRET_SOURCES },
  tools: list(
    'Names of the tools to offer, * for any characters. Default: all.',
    text('A name as the server writes it, such as issues_*.'),
    500,
  ),
  skills: flag('Use the skills that the server offers; each needs trust.', true),
  enabled: flag('Use the server.', true),
  connect_timeout_seconds: count('How long connecting may take.', 1, 600, 20),
  timeout_seconds: count('How long a call may take.', 1, 3_600, 60),
});

/** The key `mcp_servers`. */
export const MCP_SERVERS_SCHEMA = map(
  'MCP servers whose tools and skills the agent may use, by name; only in the user file.',
  MCP_SERVER_SCHEMA,
);
