import type { PackageLayer } from '#core';
export const ECOSYSTEMS = ['python', 'node'] as const satisfies readonly PackageLayer['ecosystem'][];
