/** Packages that are not installed together with Skillwright, because most users need none or one of them. */
import { existsSync } from 'node:fs';
import path from 'node:path';

import { SkillError } from '#core';
import { packageLocation } from './package-file.ts';

/** What to install for each one. The ranges are those of `peerDependencies` in package.json. */
export const OPTIONAL_PACKAGES = {
  '@modelcontextprotocol/server': { version: '2', use: 'an MCP server' },
  '@modelcontextprotocol/client': { version: '2', use: 'connections to MCP servers' },
  '@dbos-inc/dbos-sdk': { version: '5', use: 'runs on PostgreSQL' },
  pg: { version: '8', use: 'runs on PostgreSQL' },
  s3mini: { version: '1', use: 'contents in S3' },
} as const;

export type OptionalPackage = keyof typeof OPTIONAL_PACKAGES;

/** Runs `load`, which imports the package. Throws `package/missing` with the command that installs it. */
export async function loadOptional<T>(name: OptionalPackage, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    const { version, use } = OPTIONAL_PACKAGES[name];
    const install = installCommand(`${name}@${version}`, packageLocation());
    throw new SkillError({
      code: 'package/missing',
      message: `the package ${name} is not installed; it is needed for ${use}`,
      hint: `install it beside skillwright: ${install}`,
      data: { package: name, install },
      cause: error,
    });
  }
}

/** `import()` and `require()` report it by different codes. A package that lacks one of its own dependencies is another problem. */
function isMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  const isNotFound = error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND';
  return isNotFound && new RegExp(`'${name}(?:/[^']*)?'`).test(error.message.split('\n', 1)[0] ?? '');
}

/** The command depends on how skillwright was installed: in a project, globally, or by npx for one command. */
export function installCommand(spec: string, from: string): string {
  const [, base] = /^(.*)[\\/]node_modules[\\/]skillwright[\\/]/.exec(`${from}${path.sep}`) ?? [];
  if (base === undefined) return `npm install ${spec}`;
  if (/[\\/]_npx[\\/]/.test(base)) return `npx -p skillwright -p ${spec} skillwright ...`;
  return existsSync(path.join(base, 'package.json')) ? `npm install ${spec}` : `npm install -g ${spec}`;
}
