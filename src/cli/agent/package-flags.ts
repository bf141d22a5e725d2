import path from 'node:path';

import type { PackageOptions } from '../../runtime/packages/packages.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Flags of commands that run scripts with packages. */
export const PACKAGE_FLAGS = {
  with: {
    type: 'string',
    multiple: true,
    value: 'PACKAGE',
    about: 'install PACKAGE for the scripts, such as pypdf>=4 or npm:docx@9; may be repeated',
  },
  environment: {
    type: 'string',
    value: 'NAME',
    about: 'install the packages of this environment of the configuration (packages.environments)',
  },
  venv: {
    type: 'string',
    value: 'DIR',
    path: true,
    about: 'use an existing virtual environment for Python, read-only',
  },
  offline: { type: 'boolean', about: 'use only packages that are installed already (see skillwright prepare)' },
} as const;

interface GivenFlags {
  readonly with?: readonly string[];
  readonly environment?: string;
  readonly venv?: string;
  readonly offline?: boolean;
  readonly cwd?: string;
}

export function packageOptions(given: GivenFlags, terminal: Terminal): { readonly packages: PackageOptions } {
  return {
    packages: {
      ...(given.with === undefined ? {} : { with: given.with }),
      ...(given.environment === undefined ? {} : { environment: given.environment }),
      ...(given.venv === undefined ? {} : { venv: path.resolve(given.cwd ?? '.', given.venv) }),
      ...(given.offline === true ? { isOffline: true } : {}),
      onProgress: (text) => {
        terminal.remark([`packages: ${text}`]);
      },
    },
  };
}
