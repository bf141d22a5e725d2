import path from 'node:path';

import type { PackageOptions } from '#sandbox';
import type { Terminal } from '../terminal/terminal.ts';
import { option, toggle, type FlagValues } from '../command.ts';
import { defined } from '#core';

export const PACKAGE_FLAGS = {
  with: option('PACKAGE', 'install PACKAGE for the scripts, such as pypdf>=4 or npm:docx@9; may be repeated', {
    multiple: true,
  }),
  environment: option('NAME', 'install the packages of this environment of the configuration (packages.environments)'),
  venv: option('DIR', 'use an existing virtual environment for Python, read-only'),
  offline: toggle('use only packages that are installed already (see skillwright prepare)'),
} as const;

export function packageOptions(
  given: Partial<FlagValues<typeof PACKAGE_FLAGS>> & { readonly cwd?: string },
  terminal: Terminal,
): { readonly packages: PackageOptions } {
  return {
    packages: {
      ...defined({
        with: given.with,
        environment: given.environment,
        venv: given.venv && path.resolve(given.cwd ?? '.', given.venv),
      }),
      ...(given.offline === true ? { isOffline: true } : {}),
      onProgress: (text) => terminal.remark(`packages: ${text}`),
    },
  };
}
