/** `runs files`: the files that the programs of a run left and that its record keeps. */
import path from 'node:path';

import { countText, printable, SkillError, toRelativePath, isProblem } from '#core';
import { readContent, readRun } from '#journal';
import { inConfined } from '#platform';
import { writeResults } from '#runtime';
import { openApprover, type APPROVAL_FLAGS } from '../agent/approval.ts';
import { nearPath } from '../agent/deliver-outputs.ts';
import type { Invocation } from '../command.ts';
import { EXIT } from '../exit.ts';

interface KeptResult {
  readonly name: string;
  readonly bytes: number;
  readonly path: string;
  readonly isExecutable: boolean;
}

type FilesInvocation = Invocation<typeof APPROVAL_FLAGS> & { readonly flags: { readonly out?: string } };

/** Lists the files; with --out, copies them, all or none, and replaces no file that has other content. */
export async function runFiles(invocation: FilesInvocation, place: string): Promise<number> {
  const { flags, terminal, signal, surroundings } = invocation;
  const byName = new Map<string, KeptResult>();
  for (const { event } of readRun(place, { content: 'start' }).lines) {
    if (event.type !== 'content-keep' || event.name === undefined) continue;
    const { name, bytes, path: kept, isExecutable = false } = event;
    // A later program of the run replaced a file by a folder, or a folder by a file.
    for (const other of byName.keys())
      if (name.startsWith(`${other}/`) || other.startsWith(`${name}/`)) byName.delete(other);
    byName.set(name, { name, bytes, path: path.join(place, kept), isExecutable });
  }
  const files = [...byName.values()];
  const { out } = flags;
  const copied =
    out === undefined
      ? []
      : await writeResults(
          files.map((file) => readKept(file, place)),
          path.resolve(surroundings.cwd, out),
          { approve: openApprover(invocation), signal, mayReplace: false },
        );
  if (terminal.printJson({ files, copied: copied.map(nearPath) })) return EXIT.done;
  if (out === undefined) terminal.out(files.map(({ name, bytes }) => `${printable(name)}  ${String(bytes)} bytes`));
  else terminal.out(copied.map((file) => `wrote ${printable(nearPath(file))}`));
  if (files.length === 0) terminal.remark('the record keeps no files; files that were copied by --out are not in it');
  else if (out === undefined) terminal.remark(`${countText(files.length, 'file')}; copy with --out DIR`);
  return EXIT.done;
}

function readKept(
  { name, bytes: size, path: file, isExecutable }: KeptResult,
  place: string,
): Parameters<typeof writeResults>[0][number] {
  const target = toRelativePath(name);
  const reading = inConfined(
    place,
    (folder) => readContent(folder, { $ref: path.relative(place, file), bytes: size }),
    () => ({ type: 'missing' }) as const,
  );
  if (!isProblem(target) && reading.type === 'read') return { name: target, bytes: reading.bytes, isExecutable };
  throw new SkillError({
    code: 'run/invalid',
    message: `the file ${printable(name)} of the record is ${reading.type === 'missing' ? 'missing' : 'damaged'}`,
    hint: 'run skillwright runs verify to find other problems',
    data: { path: file },
  });
}
