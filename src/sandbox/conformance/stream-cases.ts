import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

import { assertExit, type CaseDefinition, conform, prints } from './fixture.ts';
import { ALL_BYTES } from './skill.ts';

const LARGE = 8 * 1024 * 1024;

let large: Buffer | undefined;

/** The same every time, and not the same in any two places. */
function largeInput(): Buffer {
  if (large !== undefined) return large;
  const words = new Uint32Array(LARGE / 4);
  for (let at = 0; at < words.length; at += 1) words[at] = Math.imul(at, 2_654_435_761);
  large = Buffer.from(words.buffer);
  return large;
}

export const STREAM_CASES: readonly CaseDefinition[] = [
  prints('EXEC-3', 'a program without input finds the end of it at once', 'wc -c | tr -d " "', '0\n'),
  prints('EXEC-3', 'text is read from the input', 'read -r a; read -r b; echo "$b $a"; cat', '大小 größe\nrest', {
    stdin: 'größe\n大小\nrest',
  }),
  prints('EXEC-3', 'every byte value passes through input and output', 'cat', ALL_BYTES, { stdin: ALL_BYTES }),
  conform('EXEC-3', 'eight megabytes of input arrive whole', async (fixture) => {
    const stdin = largeInput();
    const hash = await fixture.print('sha256sum | cut -c 1-64', { stdin });
    assert.equal(hash.trim(), createHash('sha256').update(stdin).digest('hex'));
  }),
  conform('EXEC-3', 'a program may read a part of its input and leave', async (fixture) => {
    const ran = await fixture.shell('head -c 4; exec 0<&-; echo " enough"; exit 3', { stdin: largeInput() });
    assertExit(ran, 3);
    assert.deepEqual(ran.stdout, Buffer.concat([largeInput().subarray(0, 4), Buffer.from(' enough\n')]));
  }),
  conform('EXEC-3', 'a program may leave its input alone', async (fixture) => {
    assertExit(await fixture.run(['true'], { stdin: largeInput() }), 0);
  }),
  conform('EXEC-3', 'what goes to stdout and to stderr stays apart', async (fixture) => {
    const { stdout, stderr } = await fixture.mustSucceed(
      'i=0; while [ $i -lt 200 ]; do echo "out $i"; echo "err $i" >&2; i=$((i + 1)); done',
    );
    const lines = (word: string): string => Array.from({ length: 200 }, (_, at) => `${word} ${String(at)}\n`).join('');
    assert.deepEqual([stdout.toString('utf8'), stderr.toString('utf8')], [lines('out'), lines('err')]);
  }),
  conform('EXEC-3', 'output that is no UTF-8 comes as it is', async (fixture) => {
    const { stdout, stderr } = await fixture.mustSucceed(
      `printf '\\377\\376\\000\\303'; printf '\\200\\r\\033[31m' >&2`,
    );
    assert.deepEqual(
      [stdout.toString('hex'), stderr.toString('hex')],
      ['fffe00c3', Buffer.from('\r\x1b[31m').toString('hex').replace(/^/, '80')],
    );
  }),
  conform('EXEC-3', 'nothing is lost of what was written right before the end', async (fixture) => {
    const ran = await fixture.shell('head -c 3000000 /dev/zero; printf last; printf complaint >&2; exit 7');
    assertExit(ran, 7);
    assert.equal(ran.stdout.length, 3_000_004);
    assert.equal(ran.stdout.subarray(-4).toString('utf8'), 'last');
    assert.equal(ran.stderr.toString('utf8'), 'complaint');
  }),
  conform('EXEC-3', 'a program that closes its streams goes on to its own end', async (fixture) => {
    const ran = await fixture.shell('exec 0<&- 1>&- 2>&-; sleep 0.3; : > "$RUN_DIR/after"; exit 4');
    assertExit(ran, 4);
    assert.notEqual(fixture.read(`${ran.runFolder}/after`), undefined);
  }),
];
