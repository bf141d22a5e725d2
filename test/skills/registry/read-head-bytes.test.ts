import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { isUtf8 } from 'node:buffer';
import { createServer } from 'node:net';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';

import { findFrontmatter } from '../../../src/skills/format/bounds.ts';
import { sha256 } from '../../../src/platform/hash.ts';
import { HeadReader, type HeadFile } from '../../../src/skills/registry/read-head-bytes.ts';
import { runAsOrdinaryUser, scratch } from './support.ts';
import { runs } from '../../property-runs.ts';
import { needs } from '../../needs.ts';

function read(directory: string, file = 'SKILL.md'): HeadFile {
  return new HeadReader().read(path.join(directory, file), directory);
}

function write(content: string | Uint8Array): string {
  const directory = scratch();
  writeFileSync(path.join(directory, 'SKILL.md'), content);
  return directory;
}

/** A reading without its stamp. */
function shown(reading: HeadFile): object {
  return { ...reading, stamp: undefined };
}

describe('frontmatter', () => {
  test('is read up to its closing fence, with the digest of exactly these bytes', () => {
    const head = '---\nname: a\ndescription: b\n---\n';
    expect(shown(read(write(`${head}body`)))).toEqual({
      type: 'read',
      text: head,
      validUtf8: true,
      digest: `sha256:${sha256(head)}`,
      stamp: undefined,
    });
  });

  test('of more than one block is read whole, wherever the blocks cut the fence', () => {
    for (let length = 990; length < 1040; length += 1) {
      const head = `---\nname: a\ndescription: ${'x'.repeat(length)}\n---\n`;
      expect(read(write(`${head}---\nbody`))).toMatchObject({ type: 'read', text: head });
    }
  });

  test('ends where the rules for fences say, whatever the bytes are and whatever was read before', () => {
    const piece = fc.constantFrom(
      '---',
      '\n',
      '\n---',
      '\n---\n',
      '...',
      '\n...\n',
      '\r\n',
      ' ',
      '-',
      'a: b',
      '\t',
      '\uFEFF',
      '技',
      '\0',
    );
    const text = fc.array(piece, { maxLength: 8 }).map((pieces) => Buffer.from(pieces.join('')));
    const longer = text.map((bytes) => Buffer.concat([Buffer.from(`---\nx: ${'y'.repeat(1015)}`), bytes]));
    const bytes = fc.oneof(
      text,
      text.map((rest) => Buffer.concat([Buffer.from('---\n'), rest])),
      longer,
      fc
        .uint8Array({ maxLength: 20 })
        .map((odd) => Buffer.concat([Buffer.from('---\nx: '), odd, Buffer.from('\n---\n')])),
    );
    const directory = scratch();
    const file = path.join(directory, 'SKILL.md');
    const reader = new HeadReader();
    fc.assert(
      fc.property(bytes, (content) => {
        writeFileSync(file, content);
        const bounds = findFrontmatter(content, content.length, true);
        const head = bounds.type === 'found' ? content.subarray(0, bounds.end) : undefined;
        expect(reader.read(file, directory)).toMatchObject(
          head === undefined
            ? { digest: '' }
            : { text: head.toString('utf8'), validUtf8: isUtf8(head), digest: `sha256:${sha256(head)}` },
        );
      }),
      { numRuns: runs(1000) },
    );
  });

  test('is read no further than one block beyond its end', () => {
    const directory = write(`---\nname: a\ndescription: ${'x'.repeat(3000)}\n---\n${'body '.repeat(100_000)}`);
    const reader = new HeadReader();
    reader.read(path.join(directory, 'SKILL.md'), directory);
    expect(reader.bytesRead).toBe(3072);
  });

  test('in Chinese is decoded; bytes that are not UTF-8 are told', () => {
    const text = '---\nname: a\ndescription: 数据分析\n---\n';
    expect(read(write(text))).toMatchObject({ type: 'read', text, validUtf8: true });
    expect(
      read(write(Buffer.concat([Buffer.from('---\nname: a'), Buffer.of(0xff, 0xc3), Buffer.from('\n---\n')]))),
    ).toMatchObject({ type: 'read', text: '---\nname: a\uFFFD\uFFFD\n---\n', validUtf8: false });
  });

  test('that is missing or open has no digest; one that is too large is not read', () => {
    const codes = [
      '',
      'no frontmatter',
      '# Title\n---\n',
      '---\nname: a\n',
      '---',
      `---\n${'a: b\n'.repeat(20_000)}---\n`,
      '---\n\n',
    ].map((content) => {
      const reading = read(write(content));
      if (reading.type === 'unusable') return reading.code;
      return reading.type === 'read' && reading.digest === '' ? reading.text : reading.type;
    });
    expect(codes).toEqual([
      '',
      'no frontmatter',
      '# Title\n---\n',
      '---\nname: a\n',
      '---',
      'frontmatter/too-large',
      '---\n\n',
    ]);
  });

  test('that is missing from a long file in Chinese is no reason to call it broken text', () => {
    for (const start of ['', 'a', 'ab', '😀']) {
      expect(read(write(start + '数据分析'.repeat(1_000)))).toMatchObject({
        type: 'read',
        digest: '',
        validUtf8: true,
      });
      expect(read(write(start + '😀'.repeat(1_000)))).toMatchObject({ type: 'read', digest: '', validUtf8: true });
    }
  });

  test('of a file of 100 MB costs no more than its first blocks', () => {
    const directory = write('---\nname: a\ndescription: b\n');
    truncateSync(path.join(directory, 'SKILL.md'), 100 * 1024 * 1024);
    const reader = new HeadReader();
    expect(reader.read(path.join(directory, 'SKILL.md'), directory)).toMatchObject({
      type: 'unusable',
      code: 'frontmatter/too-large',
    });
    expect(reader.bytesRead).toBeLessThanOrEqual(66 * 1024);
  });
});

describe('what is not a plain file', () => {
  test('a directory, a pipe, a socket, a device: neither waited for nor read', async () => {
    const directory = scratch();
    mkdirSync(path.join(directory, 'directory'));
    execFileSync('mkfifo', [path.join(directory, 'pipe')]);
    symlinkSync('/dev/zero', path.join(directory, 'device'));
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(path.join(directory, 'socket'), resolve);
    });
    onTestFinished(() => void server.close());
    const codes = ['directory', 'pipe', 'socket', 'device', 'nothing'].map((file) => {
      const reading = new HeadReader().read(path.join(directory, file), directory);
      return reading.type === 'failed' ? reading.code : reading.type;
    });
    expect(codes).toEqual(['file/not-regular', 'file/not-regular', 'file/not-regular', 'file/link-escapes', 'absent']);
  });

  test('a real device named as a skill file is not read', () => {
    const reader = new HeadReader();
    expect(reader.read('/dev/zero', '/dev')).toMatchObject({ type: 'failed', code: 'file/not-regular' });
    expect(reader.bytesRead).toBe(0);
  });

  test('a link is followed inside the skill and not out of it', () => {
    const directory = scratch();
    const skill = path.join(directory, 'skill');
    mkdirSync(path.join(skill, 'real'), { recursive: true });
    const text = '---\nname: a\ndescription: b\n---\n';
    writeFileSync(path.join(skill, 'real', 'text.md'), text);
    writeFileSync(path.join(directory, 'outside.md'), text);
    mkdirSync(path.join(directory, 'skill-2'));
    writeFileSync(path.join(directory, 'skill-2', 'x.md'), text);
    symlinkSync('real/text.md', path.join(skill, 'inside'));
    symlinkSync('../outside.md', path.join(skill, 'outside'));
    symlinkSync('../skill-2/x.md', path.join(skill, 'neighbour'));
    symlinkSync('nowhere', path.join(skill, 'broken'));
    symlinkSync('loop', path.join(skill, 'loop'));
    const results = ['inside', 'outside', 'neighbour', 'broken', 'loop'].map((file) => {
      const reading = read(skill, file);
      return reading.type === 'failed' ? reading.code : reading.type;
    });
    expect(results).toEqual(['read', 'file/link-escapes', 'file/link-escapes', 'file/broken-link', 'file/broken-link']);
  });

  test('a file that may not be read is told as such', needs('root'), async () => {
    const directory = scratch();
    execFileSync('chmod', ['755', directory]);
    writeFileSync(path.join(directory, 'SKILL.md'), '---\nname: a\ndescription: b\n---\n', { mode: 0o600 });
    const text = `import { HeadReader } from './skills/registry/read-head-bytes.ts'; console.log(JSON.stringify(new HeadReader().read(process.argv[2] + '/SKILL.md', process.argv[2])));`;
    const output = await runAsOrdinaryUser(text, [directory]);
    expect(JSON.parse(output)).toEqual({
      type: 'failed',
      code: 'file/unreadable',
      message: 'the file cannot be read (EACCES)',
    });
  });
});
