import { describe, expect, test } from 'vitest';

import { EMPTY_RUN, lastId, withMessages, type LiveMessage, type LiveRun } from '../../console/live-run.ts';

const row = (seq: number, text: string, attempt?: number): LiveMessage => ({
  type: 'row',
  row: { seq, at: seq * 10, type: 'note', tone: 'plain', text, attempt },
});
const texts = ({ steps }: LiveRun): readonly string[] => steps.map((step) => step.row.text);

describe('the rows of a run', () => {
  test('are those of the newest attempt, also if the stream reconnects in the middle of it', () => {
    const before = withMessages(EMPTY_RUN, [row(1, 'a', 1), row(2, 'b', 1), row(3, 'lost', 1)]);
    expect([texts(before), lastId(before)]).toEqual([['a', 'b', 'lost'], '1-3']);
    // The server begins again with the first row of the other record, or a page connects after the hand-over.
    const after = withMessages(before, [row(1, 'a', 2), row(2, 'b', 2), row(3, 'c', 2)]);
    expect([texts(after), after.elapsedMs, lastId(after)]).toEqual([['a', 'b', 'c'], 30, '2-3']);
    expect(texts(withMessages(after, [row(3, 'c', 2), row(4, 'd', 2)]))).toEqual(['a', 'b', 'c', 'd']);
  });

  test('on one machine have no attempt, and repeated rows are dropped', () => {
    const run = withMessages(EMPTY_RUN, [row(1, 'a'), row(2, 'b'), row(1, 'a'), row(2, 'b'), row(3, 'c')]);
    expect([texts(run), lastId(run)]).toEqual([['a', 'b', 'c'], '3']);
  });
});
