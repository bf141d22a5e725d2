/** Files that outlive a run, by name and version (EXEC-9). */

export interface ArtifactVersion {
  readonly name: string;
  /** From 0; one that was deleted is never given again. */
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
  /** Keeps the bytes under the next version of the name. What is thrown while the pieces are read leaves nothing behind. */
  save(
    name: string,
    content: Uint8Array | Iterable<Uint8Array>,
    options: SaveArtifactOptions,
  ): Promise<ArtifactVersion>;
  /** The latest version where none is named. Throws `artifact/unknown` with what is most like it. */
  load(name: string, version?: number): Promise<LoadedArtifact>;
  /** The latest version of every name, by name. */
  list(): Promise<readonly ArtifactVersion[]>;
  /** All versions that are left, the oldest first. */
  versions(name: string): Promise<readonly ArtifactVersion[]>;
  /** One version, or all of them; gives those that are gone now. */
  delete(name: string, version?: number): Promise<readonly number[]>;
}
