/** The `packages` section of the configuration. */
export const PACKAGES_SCHEMA = {
  type: 'object',
  description: 'Packages for scripts. Indexes come from your pip and npm configuration and never from a project.',
  additionalProperties: false,
  properties: {
    environments: {
      type: 'object',
      description: 'Lists of packages by name, for --environment and packages.skills.',
      additionalProperties: {
        type: 'array',
        description: 'The packages.',
        maxItems: 200,
        items: { type: 'string', description: 'pypdf, pandas>=2, npm:docx@9.' },
      },
    },
    skills: {
      type: 'object',
      description: 'The environment of each skill, by its name.',
      additionalProperties: { type: 'string', description: 'Name of an environment.' },
    },
    offline: {
      type: 'boolean',
      description: 'Use only packages that are installed already; a project file cannot turn this off.',
      default: false,
    },
    hosts: {
      type: 'array',
      description: 'Hosts besides the index that installations may reach; only in the user file.',
      maxItems: 100,
      items: { type: 'string', description: 'files.example.org, private://files.intranet:8080.' },
    },
  },
} as const;
