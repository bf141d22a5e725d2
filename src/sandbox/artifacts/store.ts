/** Versioned files that outlive a run (EXEC-9). What every store does is here; a backend keeps the bytes. */
import { nearest, quoted, SkillError, toRelativePath, isProblem } from '#core';
import { sha256 } from '#platform';

export interface ArtifactVersion {
  readonly name: string;
  /** From 0; the number of a deleted version is not reused. */
  readonly version: number;
  /** `sha256:` of the bytes. */
  readonly digest: string;
  readonly bytes: number;
  readonly mediaType: string;
  /** ISO 8601. */
  readonly savedAt: string;
}

interface LoadedArtifact extends ArtifactVersion {
  readonly content: Uint8Array;
}

export interface ArtifactStore {
  /** Saves the bytes as the next version. If reading the content throws, nothing is saved. */
  save(
    name: string,
    content: Uint8Array | Iterable<Uint8Array>,
    options: { readonly mediaType: string },
  ): Promise<ArtifactVersion>;
  /** Loads a version (default: the latest). Throws `artifact/unknown` with similar names. */
  load(name: string, version?: number): Promise<LoadedArtifact>;
  /** The latest version of every name, sorted by name. */
  list(): Promise<readonly ArtifactVersion[]>;
  /** All existing versions, oldest first. */
  versions(name: string): Promise<readonly ArtifactVersion[]>;
  /** Deletes one version or all of them; returns the deleted version numbers. */
  delete(name: string, version?: number): Promise<readonly number[]>;
}

/** Keeps versions by their normalized name. */
export interface ArtifactBackend extends Pick<ArtifactStore, 'list'> {
  save(name: string, content: Iterable<Uint8Array>, mediaType: string): Promise<ArtifactVersion>;
  /** The existing versions, oldest first, or only the named one or the latest; empty for an unknown name. */
  versions(name: string, only?: number | 'latest'): Promise<readonly ArtifactVersion[]>;
  /** `place` and `cause` are for the message about damage; without bytes and cause the version was deleted meanwhile. */
  load(
    version: ArtifactVersion,
  ): Promise<{ readonly place: string; readonly bytes?: Uint8Array; readonly cause?: string }>;
  delete(versions: readonly ArtifactVersion[]): Promise<void>;
}

/** Maximum size of one artifact. */
export const MAX_ARTIFACT_BYTES = 64 * 1024 * 1024;

export function openArtifacts(backend: ArtifactBackend, maxBytes = MAX_ARTIFACT_BYTES): ArtifactStore {
  const unknown = async (name: string, version: number | undefined): Promise<SkillError> => {
    const own =
      version === undefined ? [] : (await backend.versions(name)).map((one) => `${name}@${String(one.version)}`);
    const near =
      own.length > 0
        ? own.slice(-3)
        : nearest(
            name,
            (await backend.list()).map((one) => one.name),
          );
    return new SkillError({
      code: 'artifact/unknown',
      message: `unknown artifact ${quoted(version === undefined ? name : `${name}@${String(version)}`)}`,
      hint: near.length === 0 ? 'list the artifacts' : `did you mean ${near.map((one) => quoted(one)).join(', ')}?`,
      data: { name, nearest: near },
    });
  };
  /** The versions that exist, or one of them. Throws `artifact/unknown`. */
  const find = async (text: string, only?: number | 'latest'): Promise<readonly ArtifactVersion[]> => {
    const name = readArtifactName(text);
    const chosen = await backend.versions(name, only);
    if (chosen.length === 0) throw await unknown(name, only === 'latest' ? undefined : only);
    return chosen;
  };
  return {
    async save(text, content, { mediaType }) {
      const name = readArtifactName(text);
      return await backend.save(name, limited(name, content, maxBytes), mediaType);
    },
    async load(text, version) {
      const [latest] = await find(text, version ?? 'latest');
      if (latest === undefined) throw new TypeError('a version that was found is missing');
      const { place, bytes, cause } = await backend.load(latest);
      if (bytes !== undefined && `sha256:${sha256(bytes)}` === latest.digest) return { ...latest, content: bytes };
      if (bytes === undefined && cause === undefined) throw await unknown(latest.name, version);
      throw damaged(place, cause ?? 'its digest does not match');
    },
    list: () => backend.list(),
    versions: (text) => find(text),
    async delete(text, version) {
      const targets = await find(text, version);
      await backend.delete(targets);
      return targets.map((one) => one.version);
    },
  };
}

function* limited(
  name: string,
  content: Uint8Array | Iterable<Uint8Array>,
  maxBytes: number,
): Generator<Uint8Array, void, undefined> {
  let bytes = 0;
  for (const piece of content instanceof Uint8Array ? [content] : content) {
    bytes += piece.length;
    if (bytes > maxBytes)
      throw new SkillError({
        code: 'input/invalid',
        message: `the artifact ${quoted(name)} has more than ${String(maxBytes)} bytes`,
        hint: 'save a smaller file, or raise the limit',
        data: { expected: `at most ${String(maxBytes)} bytes` },
      });
    yield piece;
  }
}

function damaged(place: string, cause: string): SkillError {
  return new SkillError({
    code: 'io/failed',
    message: `the artifact at ${JSON.stringify(place)} is damaged: ${cause}`,
    hint: 'delete this version and save it again',
    data: { path: place, cause },
  });
}

/** The prefix of artifacts that all sessions of a user share. */
const USER = 'user:';

/** Normalizes a name: a relative path such as `out/report.pdf` or `user:report.pdf`. Throws `input/invalid`. */
function readArtifactName(text: string): string {
  const prefix = text.startsWith(USER) ? USER : '';
  const reading = toRelativePath(text.slice(prefix.length));
  // `name@3` means version 3 of a name.
  if (!isProblem(reading) && !/@\d+$/.test(reading)) return prefix + reading;
  throw new SkillError({
    code: 'input/invalid',
    message: `${quoted(text)} is not a valid artifact name${isProblem(reading) ? `: ${reading.message}` : ''}`,
    hint: 'use a relative path without .., with the prefix user: to share the artifact between sessions',
    data: { expected: 'a relative path' },
  });
}
