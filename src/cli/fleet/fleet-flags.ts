/** Flags of commands that use a database, and what they stand for. */
import type { Fleet, openFleet } from '#fleet';
import { option, type Flags, type Invocation } from '../command.ts';
import { usageError } from '../exit.ts';

type FleetOptions = Parameters<typeof openFleet>[0];

export const FLEET_FLAGS = {
  database: option('URL', 'the PostgreSQL database, postgres://USER@HOST/NAME (default: SKILLWRIGHT_DATABASE_URL)'),
  artifacts: option('URL', 'keep contents in this bucket, s3://BUCKET[/PREFIX] (default: in the database)'),
} as const satisfies Flags;

export function fleetOptions({ flags, surroundings: { env } }: Invocation<typeof FLEET_FLAGS>): FleetOptions {
  const database = flags.database ?? env['SKILLWRIGHT_DATABASE_URL'];
  if (database === undefined || database === '')
    throw usageError(
      'no database is named',
      'pass --database postgres://USER@HOST/NAME, or set SKILLWRIGHT_DATABASE_URL',
    );
  return { database, env, artifacts: flags.artifacts };
}

/** Opens the database. What DBOS says about migrations goes to stderr: stdout belongs to the answer. */
export async function openFleetFor(options: FleetOptions): Promise<Fleet> {
  const { openFleet } = await import('#fleet');
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  try {
    return await openFleet(options);
  } finally {
    process.stdout.write = write;
  }
}
