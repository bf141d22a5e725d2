/**
 * Writes zip files with reproducible bytes: a fixed time, fixed attributes, no owner, no extra field, one compression level.
 *
 * `fflate` deflates and frames the entries. Its version is pinned exactly because the bytes depend on it. Node's own zlib is not used: it
 * differs between machines and Node versions and compresses the same file to different bytes.
 */
import { Zip, ZipPassThrough, deflateSync } from 'fflate';

export interface ZipFile {
  /** `/` between parts. The caller validates it. */
  readonly name: string;
  readonly isExecutable: boolean;
}

export interface ZipWriter {
  /** Adds a file and passes the bytes of its entry to `onBytes`. */
  add(file: ZipFile, data: Uint8Array): void;
  /** Passes the central directory to `onBytes`. */
  end(): void;
  /** Bytes passed on so far. */
  readonly size: number;
}

/** The writer does not produce Zip64. No pack within the limits needs it. */
export const MAX_ZIP_ENTRIES = 0xfffe;
export const MAX_ZIP_BYTES = 0xffff_fffe;

/** `fflate` writes the local time of a date, so the date is given in local time: every machine writes 1980-01-01 00:00. */
const TIME = new Date(1980, 0, 1);
const UNIX = 3;
const DEFLATED = 8;
/** `mem` is fixed because `fflate` derives its default from `Math.log`, whose last digit may differ between machines. */
const DEFLATE = { level: 9, mem: 5 } as const;
/** Files that shrink by more than this factor are stored, because archive readers (ours included) reject them as zip bombs. */
const MAX_SHRINK = 100;

/** An entry that is compressed as a whole, because only then it is known whether to store it instead. */
class PackedFile extends ZipPassThrough {
  readonly #deflated: Uint8Array<ArrayBuffer> | undefined;

  constructor({ name, isExecutable }: ZipFile, data: Uint8Array) {
    super(name);
    const deflated = deflateSync(data, DEFLATE);
    const isWorthIt = deflated.length < data.length && data.length <= deflated.length * MAX_SHRINK;
    this.#deflated = isWorthIt ? deflated : undefined;
    if (isWorthIt) this.compression = DEFLATED;
    this.os = UNIX;
    this.attrs = ((isExecutable ? 0o100755 : 0o100644) << 16) >>> 0;
    this.mtime = TIME;
  }

  protected override process(data: Uint8Array<ArrayBuffer>, final: boolean): void {
    this.ondata(null, this.#deflated ?? data, final);
  }
}

/** `onBytes` gets the bytes of the zip in order, while `add` and `end` run. */
export function openZip(onBytes: (bytes: Uint8Array) => void): ZipWriter {
  let size = 0;
  const zip = new Zip((error, bytes) => {
    if (error !== null) throw error;
    size += bytes.length;
    onBytes(bytes);
  });
  return {
    add(file, data) {
      const entry = new PackedFile(file, data);
      zip.add(entry);
      entry.push(data, true);
    },
    end: () => zip.end(),
    get size() {
      return size;
    },
  };
}
