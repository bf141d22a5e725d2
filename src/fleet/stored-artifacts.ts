/** Artifacts of a project in a fleet: names and versions in a table, bytes among the contents, so every worker has them. */
import { openArtifacts, type ArtifactStore } from '#sandbox';
import { compareText } from '#core';
import { sha256 } from '#platform';
import type { RecordTables } from './run-store.ts';

const COLUMNS = `name, version, 'sha256:' || digest as digest, bytes::float as bytes, media_type as "mediaType", saved_at as "savedAt"`;

type ArtifactVersion = Awaited<ReturnType<ArtifactStore['save']>>;

interface Row extends Omit<ArtifactVersion, 'savedAt'> {
  readonly savedAt: Date;
}

export function openStoredArtifacts({ pool, contents }: RecordTables, project: string): ArtifactStore {
  return openArtifacts({
    async versions(name, only) {
      const { rows } = await pool.query<Row>(
        `select ${COLUMNS} from skillwright.artifacts where project = $1 and name = $2 and not is_deleted order by version`,
        [project, name],
      );
      const all = rows.map(toArtifactVersion);
      return only === 'latest' ? all.slice(-1) : all.filter(({ version }) => only === undefined || version === only);
    },
    async list() {
      const { rows } = await pool.query<Row>(
        `select distinct on (name) ${COLUMNS} from skillwright.artifacts where project = $1 and not is_deleted
         order by name, version desc`,
        [project],
      );
      return rows.map(toArtifactVersion).toSorted((a, b) => compareText(a.name, b.name));
    },
    async save(name, content, mediaType) {
      const bytes = Buffer.concat([...content]);
      const digest = sha256(bytes);
      await contents.save([{ digest, bytes }]);
      // Deleted versions keep their row, so that their number is not used again. The key decides between two that save at once.
      for (;;) {
        const { rows } = await pool.query<Row>(
          `insert into skillwright.artifacts (project, name, version, digest, bytes, media_type)
           select $1, $2, coalesce(max(version) + 1, 0), $3, $4, $5 from skillwright.artifacts where project = $1 and name = $2
           on conflict do nothing returning ${COLUMNS}`,
          [project, name, digest, bytes.length, mediaType],
        );
        const [row] = rows;
        if (row !== undefined) return toArtifactVersion(row);
      }
    },
    async load({ name, digest }) {
      const bytes = await contents.load(digest.slice('sha256:'.length));
      return { place: name, bytes, cause: bytes === undefined ? 'its bytes are missing' : undefined };
    },
    async delete(targets) {
      await pool.query(
        'update skillwright.artifacts set is_deleted = true where project = $1 and name = $2 and version = any($3)',
        [project, targets[0]?.name, targets.map(({ version }) => version)],
      );
    },
  });
}

function toArtifactVersion({ savedAt, ...rest }: Row): ArtifactVersion {
  return { ...rest, savedAt: savedAt.toISOString() };
}
