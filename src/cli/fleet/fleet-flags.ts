/** Flags of commands that use a database, and what they stand for. */
import type { FleetOptions } from '../../server/fleet/open-fleet.ts';
import type { FlagValues, Flags } from '../command.ts';
import { UsageError } from '../exit.ts';
import { surroundingsFor } from '../surroundings.ts';

export const FLEET_FLAGS = {
  database: {
    type: 'string',
    value: 'URL',
    about: 'the PostgreSQL database, postgres://USER@HOST/NAME (default: SKILLWRIGHT_DATABASE_URL)',
  },
  artifacts: {
    type: 'string',
    value: 'URL',
    about: 'keep contents in this bucket, s3://BUCKET[/PREFIX] (default: in the database)',
  },
} as const satisfies Flags;

export function fleetOptions(
  given: FlagValues<typeof FLEET_FLAGS> & Parameters<typeof surroundingsFor>[0],
): FleetOptions {
  const { env } = surroundingsFor(given);
  const database = given.database ?? env['SKILLWRIGHT_DATABASE_URL'];
  if (database === undefined || database === '')
    throw new UsageError(
      'no database is named',
      'pass --database postgres://USER@HOST/NAME, or set SKILLWRIGHT_DATABASE_URL',
    );
  return { database, env, ...(given.artifacts === undefined ? {} : { artifacts: given.artifacts }) };
}
