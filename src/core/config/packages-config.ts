import { flag, list, map, section, text } from '../json/schema-of.ts';

/** The `packages` section of the configuration. */
export const PACKAGES_SCHEMA = section(
  'Packages for scripts. Indexes come from your pip and npm configuration and never from a project.',
  {
    environments: map(
      'Lists of packages by name, for --environment and packages.skills.',
      list('The packages.', text('pypdf, pandas>=2, npm:docx@9.'), 200),
    ),
    skills: map('The environment of each skill, by its name.', text('Name of an environment.')),
    offline: flag('Use only packages that are installed already; a project file cannot turn this off.'),
    hosts: list(
      'Hosts besides the index that installations may reach; only in the user file.',
      text('files.example.org, private://files.intranet:8080.'),
      100,
    ),
  },
);
