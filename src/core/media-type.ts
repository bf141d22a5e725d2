/** Detects what a file contains. The content decides; the name only refines the kind of text or archive. */

export interface MediaType {
  readonly mediaType: string;
  /** Whether it must not be shown as text. */
  readonly isBinary: boolean;
}

/** The name never turns binary content into text, or the reverse. */
export function detectMediaType(path: string, bytes: Uint8Array): MediaType {
  const extension = readExtension(path);
  const found = binaryType(bytes, extension);
  if (found !== undefined) return { mediaType: found, isBinary: true };
  return { mediaType: TEXT_TYPES.get(extension) ?? 'text/plain', isBinary: false };
}

interface Signature {
  readonly bytes: string;
  readonly at?: number;
  /** Expected at the start of the file when `at` is not 0. */
  readonly prefix?: string;
  readonly mediaType: string;
  /** Printable, but no text starts with it. */
  readonly isUnmistakable?: boolean;
}

/** One character per byte. A printable signature could also start a text, so it counts only in files with a NUL byte. */
const SIGNATURES: readonly Signature[] = [
  { bytes: '\x89PNG\r\n\x1a\n', mediaType: 'image/png' },
  { bytes: '\xff\xd8\xff', mediaType: 'image/jpeg' },
  { bytes: 'GIF87a', mediaType: 'image/gif' },
  { bytes: 'GIF89a', mediaType: 'image/gif' },
  { prefix: 'RIFF', at: 8, bytes: 'WEBPVP8', mediaType: 'image/webp' },
  { bytes: 'II*\0', mediaType: 'image/tiff' },
  { bytes: 'MM\0*', mediaType: 'image/tiff' },
  { bytes: '\0\0\x01\0', mediaType: 'image/x-icon' },
  { bytes: '%PDF-', mediaType: 'application/pdf', isUnmistakable: true },
  { bytes: 'PK\x03\x04', mediaType: 'application/zip' },
  { bytes: 'PK\x05\x06', mediaType: 'application/zip' },
  { bytes: 'PK\x07\x08', mediaType: 'application/zip' },
  { bytes: '\x1f\x8b\x08', mediaType: 'application/gzip' },
  { prefix: 'BZh', at: 4, bytes: '1AY&SY', mediaType: 'application/x-bzip2', isUnmistakable: true },
  { prefix: 'BZh', at: 4, bytes: '\x17rE8P\x90', mediaType: 'application/x-bzip2' },
  { bytes: '\xfd7zXZ\0', mediaType: 'application/x-xz' },
  { bytes: '\x28\xb5\x2f\xfd', mediaType: 'application/zstd' },
  { bytes: '7z\xbc\xaf\x27\x1c', mediaType: 'application/x-7z-compressed' },
  { bytes: 'Rar!\x1a\x07', mediaType: 'application/vnd.rar' },
  { at: 257, bytes: 'ustar', mediaType: 'application/x-tar' },
  { bytes: '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', mediaType: 'application/x-ole-storage' },
  { bytes: '\x7fELF', mediaType: 'application/x-elf' },
  { bytes: '\xfe\xed\xfa\xce', mediaType: 'application/x-mach-binary' },
  { bytes: '\xfe\xed\xfa\xcf', mediaType: 'application/x-mach-binary' },
  { bytes: '\xce\xfa\xed\xfe', mediaType: 'application/x-mach-binary' },
  { bytes: '\xcf\xfa\xed\xfe', mediaType: 'application/x-mach-binary' },
  { bytes: '\0asm', mediaType: 'application/wasm' },
  { bytes: 'wOFF', mediaType: 'font/woff' },
  { bytes: 'wOF2', mediaType: 'font/woff2' },
  { bytes: '\0\x01\0\0\0', mediaType: 'font/ttf' },
  { bytes: 'OTTO', mediaType: 'font/otf' },
  { bytes: 'ttcf', mediaType: 'font/collection' },
  { bytes: 'ID3\x02', mediaType: 'audio/mpeg' },
  { bytes: 'ID3\x03', mediaType: 'audio/mpeg' },
  { bytes: 'ID3\x04', mediaType: 'audio/mpeg' },
  { bytes: '\xff\xfb', mediaType: 'audio/mpeg' },
  { bytes: '\xff\xfa', mediaType: 'audio/mpeg' },
  { bytes: '\xff\xf3', mediaType: 'audio/mpeg' },
  { bytes: '\xff\xf2', mediaType: 'audio/mpeg' },
  { at: 4, bytes: 'ftypqt  ', mediaType: 'video/quicktime' },
  { at: 4, bytes: 'ftypM4A', mediaType: 'audio/mp4' },
  { at: 4, bytes: 'ftypavif', mediaType: 'image/avif' },
  { at: 4, bytes: 'ftypheic', mediaType: 'image/heic' },
  { at: 4, bytes: 'ftyp', mediaType: 'video/mp4' },
  { bytes: 'OggS', mediaType: 'audio/ogg' },
  { prefix: 'RIFF', at: 8, bytes: 'WAVE', mediaType: 'audio/wav' },
  { prefix: 'RIFF', at: 8, bytes: 'AVI ', mediaType: 'video/x-msvideo' },
  { bytes: 'fLaC', mediaType: 'audio/flac' },
  { bytes: '\x1aE\xdf\xa3', mediaType: 'video/x-matroska' },
  { bytes: 'SQLite format 3\0', mediaType: 'application/vnd.sqlite3' },
  { bytes: 'PAR1', mediaType: 'application/vnd.apache.parquet' },
];
const LETTERS_ONLY = /^[\x20-\x7e]+$/;
/** Formats that are ZIP archives with another extension. */
const ZIP_FORMS: ReadonlyMap<string, string> = new Map([
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
  ['dotx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.template'],
  ['xltx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.template'],
  ['potx', 'application/vnd.openxmlformats-officedocument.presentationml.template'],
  ['docm', 'application/vnd.ms-word.document.macroenabled.12'],
  ['xlsm', 'application/vnd.ms-excel.sheet.macroenabled.12'],
  ['pptm', 'application/vnd.ms-powerpoint.presentation.macroenabled.12'],
  ['odt', 'application/vnd.oasis.opendocument.text'],
  ['ods', 'application/vnd.oasis.opendocument.spreadsheet'],
  ['odp', 'application/vnd.oasis.opendocument.presentation'],
  ['epub', 'application/epub+zip'],
  ['jar', 'application/java-archive'],
  ['apk', 'application/vnd.android.package-archive'],
]);
const OLE_FORMS: ReadonlyMap<string, string> = new Map([
  ['doc', 'application/msword'],
  ['xls', 'application/vnd.ms-excel'],
  ['ppt', 'application/vnd.ms-powerpoint'],
]);

/** The type of binary content; undefined for text. */
function binaryType(bytes: Uint8Array, extension: string): string | undefined {
  const encoding = wideEncoding(bytes);
  if (encoding !== undefined) return `text/plain; charset=${encoding}`;
  const hasNul = bytes.includes(0);
  const known = codeType(bytes) ?? SIGNATURES.find((signature) => matches(bytes, signature, hasNul))?.mediaType;
  if (known === 'application/zip') return ZIP_FORMS.get(extension) ?? known;
  if (known === 'application/x-ole-storage') return OLE_FORMS.get(extension) ?? known;
  return known ?? (hasNul || hasManyControls(bytes) ? 'application/octet-stream' : undefined);
}

/** UTF-16 and UTF-32 by byte order mark. The mark of UTF-32 starts with that of UTF-16. */
function wideEncoding(bytes: Uint8Array): string | undefined {
  if (startsWith(bytes, '\xff\xfe\0\0') || startsWith(bytes, '\0\0\xfe\xff')) return 'utf-32';
  return startsWith(bytes, '\xff\xfe') || startsWith(bytes, '\xfe\xff') ? 'utf-16' : undefined;
}

function matches(bytes: Uint8Array, signature: Signature, hasNul: boolean): boolean {
  const { bytes: expected, at = 0, prefix = '', isUnmistakable = false } = signature;
  if (!startsWith(bytes, expected, at) || !startsWith(bytes, prefix)) return false;
  return hasNul || isUnmistakable || !LETTERS_ONLY.test(expected);
}

/** Formats that need more than a signature: Java classes and universal binaries share one, and `BM` and `MZ` are printable. */
function codeType(bytes: Uint8Array): string | undefined {
  if (startsWith(bytes, '\xca\xfe\xba\xbe')) {
    // The architecture count of a universal binary is small; class file versions start at 45.
    const second = numberAt(bytes, 4, { littleEndian: false }) ?? 0;
    return (second & 0xffff) < 45 ? 'application/x-mach-binary' : 'application/java-vm';
  }
  if (startsWith(bytes, 'MZ')) {
    const header = numberAt(bytes, 0x3c, { littleEndian: true });
    const isPortable = header !== undefined && startsWith(bytes, 'PE\0\0', header);
    return isPortable ? 'application/vnd.microsoft.portable-executable' : undefined;
  }
  return startsWith(bytes, 'BM') && startsWith(bytes, '\0\0\0\0', 6) ? 'image/bmp' : undefined;
}

function numberAt(
  bytes: Uint8Array,
  at: number,
  { littleEndian }: { readonly littleEndian: boolean },
): number | undefined {
  if (bytes.length < at + 4) return undefined;
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(at, littleEndian);
}

function startsWith(bytes: Uint8Array, expected: string, at = 0): boolean {
  if (bytes.length < at + expected.length) return false;
  for (let index = 0; index < expected.length; index += 1) {
    if (bytes[at + index] !== expected.charCodeAt(index)) return false;
  }
  return true;
}

/** At most one in this many bytes may be a control character, because logs contain terminal colors. */
const CONTROLS_ONE_IN = 20;

function hasManyControls(bytes: Uint8Array): boolean {
  let controls = 0;
  for (const byte of bytes) if (byte < 0x20 && !isTextControl(byte)) controls += 1;
  return controls * CONTROLS_ONE_IN > bytes.length;
}

/** Bell, backspace to carriage return, and escape: output of terminals has them, as it has delete. */
function isTextControl(byte: number): boolean {
  return (byte >= 0x07 && byte <= 0x0d) || byte === 0x1b;
}

/** Lower case without the dot; empty for `Makefile` and `.gitignore`. */
function readExtension(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  const dot = name.lastIndexOf('.');
  return dot < 1 ? '' : name.slice(dot + 1).toLowerCase();
}

const TEXT_TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'application/json': 'json json5 jsonc ipynb webmanifest',
    'application/jsonl': 'jsonl ndjson',
    'application/sql': 'sql',
    'application/toml': 'toml',
    'application/xml': 'xml xsd xsl xslt plist',
    'application/yaml': 'yaml yml',
    'image/svg+xml': 'svg',
    'text/css': 'css',
    'text/csv': 'csv',
    'text/html': 'html htm xhtml',
    'text/javascript': 'js mjs cjs jsx',
    'text/markdown': 'md markdown mdx',
    'text/tab-separated-values': 'tsv',
    'text/x-c': 'c h',
    'text/x-c++': 'cc cpp cxx hpp hh',
    'text/x-csharp': 'cs',
    'text/x-diff': 'diff patch',
    'text/x-go': 'go',
    'text/x-ini': 'ini cfg conf properties',
    'text/x-java': 'java',
    'text/x-kotlin': 'kt kts',
    'text/x-lua': 'lua',
    'text/x-perl': 'pl pm',
    'text/x-php': 'php',
    'text/x-powershell': 'ps1 psm1',
    'text/x-python': 'py pyi',
    'text/x-r': 'r',
    'text/x-rst': 'rst',
    'text/x-ruby': 'rb',
    'text/x-rust': 'rs',
    'text/x-shellscript': 'sh bash zsh',
    'text/x-swift': 'swift',
    'text/x-tex': 'tex',
    'text/x-typescript': 'ts mts cts tsx',
  }).flatMap(([mediaType, extensions]) => extensions.split(' ').map((extension) => [extension, mediaType] as const)),
);
