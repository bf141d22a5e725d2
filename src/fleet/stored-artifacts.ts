/** Artifacts of a project in a fleet: names and versions in a table, bytes among the contents, so every worker has them. */
import {
  damagedArtifact,
  MAX_ARTIFACT_BYTES,
  readArtifactName,
  tooLarge,
  unknownArtifact,
  type ArtifactName,
  type ArtifactStore,
  type ArtifactVersion,
} from '#sandbox';
import { compareText } from '#core';
import { sha256 } from '#platform';
import type { RecordTables } from './run-store.ts';

const COLUMNS = `name, version, 'sha256:' || digest as digest, bytes::float as bytes, media_type as "mediaType", saved_at as "savedAt"`;

interface Row extends Omit<ArtifactVersion, 'savedAt'> {
  readonly savedAt: Date;
}

export function openStoredArtifacts({ pool, contents }: RecordTables, project: string): ArtifactStore {
  const live = async ({ name }: ArtifactName): Promise<readonly ArtifactVersion[]> => {
    const { rows } = await pool.query<Row>(
      `select ${COLUMNS} from skillwright.artifacts where project = $1 and name = $2 and not is_deleted order by version`,
      [project, name],
    );
    return rows.map(toArtifactVersion);
  };
  const list = async (): Promise<readonly ArtifactVersion[]> => {
    const { rows } = await pool.query<Row>(
      `select distinct on (name) ${COLUMNS} from skillwright.artifacts where project = $1 and not is_deleted
       order by name, version desc`,
      [project],
    );
    return rows.map(toArtifactVersion).toSorted((a, b) => compareText(a.name, b.name));
  };
  /** The versions that exist, or one of them. Throws `artifact/unknown`. */
  const found = async (name: ArtifactName, version?: number): Promise<readonly ArtifactVersion[]> => {
    const all = await live(name);
    const chosen = version === undefined ? all : all.filter((one) => one.version === version);
    if (chosen.length > 0) return chosen;
    const own = version === undefined ? [] : all.map((one) => `${name.name}@${String(one.version)}`);
    throw unknownArtifact(name, version, { own, others: (await list()).map((one) => one.name) });
  };
  return {
    async save(text, content, { mediaType }) {
      const name = readArtifactName(text);
      const bytes = joined(content, name.name);
      const digest = sha256(bytes);
      await contents.save([{ digest, bytes }]);
      // Deleted versions keep their row, so that their number is not used again. The key decides between two that save at once.
      for (;;) {
        const { rows } = await pool.query<Row>(
          `insert into skillwright.artifacts (project, name, version, digest, bytes, media_type)
           select $1, $2, coalesce(max(version) + 1, 0), $3, $4, $5 from skillwright.artifacts where project = $1 and name = $2
           on conflict do nothing returning ${COLUMNS}`,
          [project, name.name, digest, bytes.length, mediaType],
        );
        const [row] = rows;
        if (row !== undefined) return toArtifactVersion(row);
      }
    },
    async load(text, version) {
      const name = readArtifactName(text);
      const latest = (await found(name, version)).at(-1);
      if (latest === undefined) throw new TypeError('a version that was found is missing');
      const digest = latest.digest.slice('sha256:'.length);
      const bytes = await contents.load(digest);
      if (bytes === undefined || sha256(bytes) !== digest)
        throw damagedArtifact(name.name, bytes === undefined ? 'its bytes are missing' : 'its digest does not match');
      return { ...latest, content: bytes };
    },
    list,
    versions: (text) => found(readArtifactName(text)),
    async delete(text, version) {
      const name = readArtifactName(text);
      const targets = (await found(name, version)).map((one) => one.version);
      await pool.query(
        'update skillwright.artifacts set is_deleted = true where project = $1 and name = $2 and version = any($3)',
        [project, name.name, targets],
      );
      return targets;
    },
  };
}

function toArtifactVersion({ savedAt, ...rest }: Row): ArtifactVersion {
  return { ...rest, savedAt: savedAt.toISOString() };
}

function joined(content: Uint8Array | Iterable<Uint8Array>, name: string): Buffer {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for (const piece of content instanceof Uint8Array ? [content] : content) {
    bytes += piece.length;
    if (bytes > MAX_ARTIFACT_BYTES) throw tooLarge(name, MAX_ARTIFACT_BYTES);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
