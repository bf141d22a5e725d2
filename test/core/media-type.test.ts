import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { detectMediaType } from '../../src/core/media-type.ts';

const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const binary = (mediaType: string): object => ({ mediaType, isBinary: true });
const text = (mediaType: string): object => ({ mediaType, isBinary: false });
const TAR = `a.txt${'\0'.repeat(252)}ustar\x0000`;
const PORTABLE = `MZ${'\0'.repeat(58)}\x40\0\0\0PE\0\0`;

describe('content that is not text', () => {
  it.each([
    ['\x89PNG\r\n\x1a\n', 'image/png'],
    ['\xff\xd8\xff\xe0', 'image/jpeg'],
    ['GIF89a\x01\0\x01\0', 'image/gif'],
    ['RIFF\x10\0\0\0WEBPVP8 ', 'image/webp'],
    ['BM\x36\0\0\0\0\0\0\0', 'image/bmp'],
    ['\0\0\x01\0\x01\0', 'image/x-icon'],
    ['II*\0', 'image/tiff'],
    ['MM\0*', 'image/tiff'],
    ['%PDF-1.7\n', 'application/pdf'],
    ['PK\x03\x04', 'application/zip'],
    ['PK\x05\x06', 'application/zip'],
    ['\x1f\x8b\x08\0', 'application/gzip'],
    ['BZh91AY&SY\x11', 'application/x-bzip2'],
    ['\xfd7zXZ\0', 'application/x-xz'],
    ['\x28\xb5\x2f\xfd', 'application/zstd'],
    ['7z\xbc\xaf\x27\x1c', 'application/x-7z-compressed'],
    [TAR, 'application/x-tar'],
    ['\x7fELF\x02', 'application/x-elf'],
    ['\xcf\xfa\xed\xfe\x07', 'application/x-mach-binary'],
    ['\xca\xfe\xba\xbe\0\0\0\x02', 'application/x-mach-binary'],
    ['\xca\xfe\xba\xbe\0\0\0\x3d', 'application/java-vm'],
    [PORTABLE, 'application/vnd.microsoft.portable-executable'],
    ['\0asm\x01\0\0\0', 'application/wasm'],
    ['wOFF\0\x01\0\0', 'font/woff'],
    ['wOF2\0\x01\0\0', 'font/woff2'],
    ['\0\x01\0\0\0\x0c', 'font/ttf'],
    ['OTTO\0\x0c', 'font/otf'],
    ['ID3\x04\0', 'audio/mpeg'],
    ['\xff\xfb\x90', 'audio/mpeg'],
    ['\0\0\0\x18ftypisom', 'video/mp4'],
    ['\0\0\0\x14ftypqt  ', 'video/quicktime'],
    ['OggS\0\x02', 'audio/ogg'],
    ['RIFF\x24\0\0\0WAVEfmt ', 'audio/wav'],
    ['RIFF\x24\0\0\0AVI LIST', 'video/x-msvideo'],
    ['fLaC\0\0\0\x22', 'audio/flac'],
    ['SQLite format 3\0', 'application/vnd.sqlite3'],
    ['PAR1\x15\0', 'application/vnd.apache.parquet'],
    ['\xff\xfeh\0i\0', 'text/plain; charset=utf-16'],
    ['\xfe\xff\0h\0i', 'text/plain; charset=utf-16'],
    ['\xff\xfe\0\0h\0\0\0', 'text/plain; charset=utf-32'],
    ['\0\0\xfe\xff\0\0\0h', 'text/plain; charset=utf-32'],
    ['h\0i\0', 'application/octet-stream'],
    ['MZ\0\0', 'application/octet-stream'],
    ['\x01\x02\x03\x04', 'application/octet-stream'],
  ])('%j is %s, whatever the file is called', (content, mediaType) => {
    for (const name of ['a', 'a.md', 'a.py'])
      expect(detectMediaType(name, bytesOf(content))).toEqual(binary(mediaType));
  });

  it.each([
    ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
    ['XLSX', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    ['pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
    ['ods', 'application/vnd.oasis.opendocument.spreadsheet'],
    ['epub', 'application/epub+zip'],
    ['jar', 'application/java-archive'],
    ['png', 'application/zip'],
  ])('an archive named .%s is %s', (extension, mediaType) => {
    expect(detectMediaType(`assets/form.${extension}`, bytesOf('PK\x03\x04\x14\0'))).toEqual(binary(mediaType));
  });

  it('one NUL byte at the end of a long text is enough', () => {
    expect(detectMediaType('a.md', utf8(`${'text '.repeat(200_000)}\0`))).toEqual(binary('application/octet-stream'));
  });
});

describe('content that is text', () => {
  it.each([
    ['SKILL.md', 'text/markdown'],
    ['a/b.JSON', 'application/json'],
    ['rows.jsonl', 'application/jsonl'],
    ['a.yml', 'application/yaml'],
    ['a.toml', 'application/toml'],
    ['a.csv', 'text/csv'],
    ['a.tsv', 'text/tab-separated-values'],
    ['a.html', 'text/html'],
    ['a.mjs', 'text/javascript'],
    ['a.ts', 'text/x-typescript'],
    ['scripts/run.py', 'text/x-python'],
    ['run.sh', 'text/x-shellscript'],
    ['logo.svg', 'image/svg+xml'],
    ['a.patch', 'text/x-diff'],
    ['notes.txt', 'text/plain'],
    ['LICENSE', 'text/plain'],
    ['.md', 'text/plain'],
    ['v1.py/readme', 'text/plain'],
    ['photo.png', 'text/plain'],
    ['program.exe', 'text/plain'],
    ['a.__proto__', 'text/plain'],
  ])('%s is %s, also when it is empty', (name, mediaType) => {
    expect(detectMediaType(name, utf8('数据 and more\n'))).toEqual(text(mediaType));
    expect(detectMediaType(name, utf8(''))).toEqual(text(mediaType));
  });

  it.each([
    'GIF89a is an old format',
    'MZ is how programs start',
    'BM25 ranks documents',
    'RIFF    WAVE is a container',
    'OTTO was here',
    'PAR1 and PAR2',
    'ID3 tags',
    'wOFF',
    `\ufefftext with a byte order mark`,
    'a page\f and a \x1b[31mcolour\x1b[0m',
  ])('%j begins like another format and is text all the same', (content) => {
    expect(detectMediaType('a.md', utf8(content))).toEqual(text('text/markdown'));
  });

  it('text in an older encoding is text', () => {
    expect(detectMediaType('a.txt', bytesOf('caf\xe9 cr\xe8me'))).toEqual(text('text/plain'));
  });

  it('printable text is text under any name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (name, content) => {
        if (content.startsWith('%PDF-')) return;
        expect(detectMediaType(name, utf8(content)).isBinary).toBe(false);
      }),
    );
  });

  it('any bytes have a type, and the name does not change whether they are shown', () => {
    fc.assert(
      fc.property(fc.string(), fc.uint8Array({ maxLength: 400 }), (name, bytes) => {
        expect(detectMediaType(name, bytes).isBinary).toBe(detectMediaType('x', bytes).isBinary);
        if (bytes.includes(0)) expect(detectMediaType(name, bytes).isBinary).toBe(true);
      }),
    );
  });
});
