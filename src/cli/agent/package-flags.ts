import type { PackageOptions } from '../../runtime/execution/packages.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Flags of commands that run scripts with packages. */
export const PACKAGE_FLAGS = {
  with: {
    type: 'string',
    multiple: true,
    value: 'PACKAGE',
    about: 'install PACKAGE for the scripts, such as pypdf>=4 or npm:docx@9; may be repeated',
  },
  offline: { type: 'boolean', about: 'use only packages that are installed already (see skillwright prepare)' },
} as const;

interface GivenFlags {
  readonly with?: readonly string[];
  readonly offline?: boolean;
}

export function packageOptions(given: GivenFlags, terminal: Terminal): { readonly packages: PackageOptions } {
  return {
    packages: {
      ...(given.with === undefined ? {} : { with: given.with }),
      ...(given.offline === true ? { isOffline: true } : {}),
      onProgress: (text) => {
        terminal.remark([`packages: ${text}`]);
      },
    },
  };
}
