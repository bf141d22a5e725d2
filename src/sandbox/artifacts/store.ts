/** Versioned files that outlive a run (EXEC-9). */

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

export interface LoadedArtifact extends ArtifactVersion {
  readonly content: Uint8Array;
}

export interface SaveArtifactOptions {
  readonly mediaType: string;
}

export interface ArtifactStore {
  /** Saves the bytes as the next version. If reading the content throws, nothing is saved. */
  save(
    name: string,
    content: Uint8Array | Iterable<Uint8Array>,
    options: SaveArtifactOptions,
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
