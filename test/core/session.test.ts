import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { SkillIdentity } from '../../src/core/observation.ts';
import {
  reduceSession,
  type Lifetime,
  type SessionEvent,
  type SessionSettings,
  type SessionState,
} from '../../src/core/session.ts';
import { selectDocuments } from '../../src/runtime/skill-actions.ts';
import { verifies } from '../conformance/verifies.ts';

const SETTINGS: SessionSettings = { lifetime: 'turn', maxLoaded: 3, placement: 'tool-results' };
const START = reduceSession(undefined, { type: 'session-start', settings: SETTINGS, indexHash: '' });
const skill = (name: string): SkillIdentity => ({ id: `t/${name}`, name, source: 't', dir: `/skills/${name}` });
const load = (name: string, lifetime: Lifetime = 'turn', digest = 'sha256:1'): SessionEvent => ({
  type: 'skill-load',
  skill: skill(name),
  digest,
  askedBy: 'model',
  lifetime,
});
const after = (...events: readonly SessionEvent[]): SessionState => events.reduce<SessionState>(reduceSession, START);
const names = (state: SessionState): readonly string[] => state.loaded.map((loaded) => loaded.skill.name);
const shown = (id: string): SessionEvent => ({
  type: 'content-show',
  shown: { skill: id, path: 'references/a.md', digest: 'd', characters: 1, tokens: 1, reason: 'resource' },
});

verifies('DISC-6', 'a turn, one request and the session are the three lifetimes of a loaded skill', () => {
  const loaded = after(load('a', 'turn'), load('b', 'once'), load('c', 'session'));
  expect(names(loaded)).toEqual(['a', 'b', 'c']);
  expect(names(reduceSession(loaded, { type: 'request-start', shown: [] }))).toEqual(['a', 'c']);
  expect(names(reduceSession(loaded, { type: 'turn-start' }))).toEqual(['c']);
});

verifies('DISC-6', 'above the cap the skill used longest ago makes room, and reading one of its files is a use', () => {
  expect(names(after(load('a'), load('b'), load('c'), load('d')))).toEqual(['b', 'c', 'd']);
  expect(names(after(load('a'), load('b'), load('c'), shown('t/a'), load('d')))).toEqual(['c', 'a', 'd']);
  expect(names(after(load('a'), load('b'), load('a')))).toEqual(['b', 'a']);
});

test('a skill above the cap goes on restricting while its instructions are in the conversation', () => {
  const displaced = (...events: readonly SessionEvent[]): readonly string[] =>
    (after(...events).displaced ?? []).map((loaded) => loaded.skill.name);
  const four = [load('a'), load('b', 'session'), load('c'), load('d'), load('e')];
  expect(displaced(...four)).toEqual(['a', 'b']);
  expect(displaced(...four, load('a'))).toEqual(['b', 'c']);
  expect(displaced(...four, { type: 'turn-start' })).toEqual(['b']);
  expect(displaced(...four, { type: 'session-compact', kept: ['t/c'] })).toEqual([]);
  const settings = { ...SETTINGS, placement: 'system' } as const;
  expect(displaced({ type: 'session-start', settings, indexHash: '' }, ...four)).toEqual([]);
});

test('documents are added, replaced and cleared; to all of them nothing can be added', () => {
  expect(selectDocuments([], 'add', ['b.md', 'a.md'])).toEqual(['a.md', 'b.md']);
  expect(selectDocuments(['a.md'], 'add', ['a.md', 'c.md'])).toEqual(['a.md', 'c.md']);
  expect(selectDocuments(['a.md'], 'replace', ['c.md'])).toEqual(['c.md']);
  expect(selectDocuments('*', 'add', ['c.md'])).toBe('*');
  expect(selectDocuments(['a.md'], 'add', '*')).toBe('*');
  expect(selectDocuments('*', 'clear', ['a.md'])).toEqual([]);
});

test('a selection of documents survives a second load of its skill', () => {
  const state = after(load('a'), { type: 'documents-select', skill: skill('a'), selected: ['x.md'] }, load('a'));
  expect(state.loaded.find(({ skill }) => skill.id === 't/a')?.documents).toEqual(['x.md']);
});

verifies('TOOL-6', 'the third failure of one kind ends the run; a success of that action starts the count anew', () => {
  const fail: SessionEvent = { type: 'action-fail', action: 'load_skill', code: 'skill/unknown' };
  const other: SessionEvent = { type: 'action-fail', action: 'load_skill', code: 'input/invalid' };
  expect(after(fail, other, fail).endedBy).toBeUndefined();
  expect(after(fail, other, fail, fail).endedBy).toEqual({ action: 'load_skill', code: 'skill/unknown' });
  expect(after(fail, fail, { type: 'action-end', action: 'load_skill' }, fail).endedBy).toBeUndefined();
  expect(after(fail, fail, { type: 'action-end', action: 'read_resource' }, fail).endedBy).toBeDefined();
  expect(after(fail, fail, fail, { type: 'turn-start' }).endedBy).toBeUndefined();
});

test('three wrong values of one parameter end the run, six inputs that are wrong in different ways as well', () => {
  const wrong = (message: string): SessionEvent => ({
    type: 'action-fail',
    action: 'run_command',
    code: 'input/invalid',
    message,
  });
  const [empty, missing, timeout] = [wrong('a is empty'), wrong('b is missing'), wrong('c must be 1, not -1')];
  const [other, none] = [wrong('c must be 1, not 0'), wrong('c must be 1, not "x,\nnot y"')];
  const ended = { action: 'run_command', code: 'input/invalid' };
  expect(after(empty, missing, timeout).endedBy).toBeUndefined();
  expect(after(empty, missing, timeout, empty, missing).endedBy).toBeUndefined();
  expect(after(empty, missing, timeout, empty, missing, timeout).endedBy).toEqual({ ...ended, isVaried: true });
  expect(after(timeout, other, none).endedBy).toEqual(ended);
  const succeeded: SessionEvent = { type: 'action-end', action: 'run_command' };
  expect(after(empty, missing, timeout, empty, missing, succeeded, timeout).endedBy).toBeUndefined();
  const request: SessionEvent = { type: 'request-start', shown: [] };
  const many = ['1', '2', '3', '4', '5', '6'].map(wrong);
  expect(after(request, ...many).endedBy).toBeUndefined();
  expect(after(...many.flatMap((one) => [request, one])).endedBy).toEqual({ ...ended, isVaried: true });
});

test('parallel calls of one request count as one failure, if the loop reports its requests', () => {
  const fail: SessionEvent = { type: 'action-fail', action: 'load_skill', code: 'skill/unknown', message: 'x' };
  const request: SessionEvent = { type: 'request-start', shown: [] };
  expect(after(request, fail, fail, fail, request, fail).endedBy).toBeUndefined();
  expect(after(request, fail, request, fail, request, fail).endedBy).toEqual({
    action: 'load_skill',
    code: 'skill/unknown',
  });
});

test('denials and wrong folders of different things are different failures', () => {
  const denied = (message: string): SessionEvent => ({
    type: 'action-fail',
    action: 'write_file',
    code: 'policy/denied',
    message,
  });
  expect(after(denied('a'), denied('b'), denied('c'), denied('a')).endedBy).toBeUndefined();
  expect(after(denied('a'), denied('a'), denied('a')).endedBy).toEqual({
    action: 'write_file',
    code: 'policy/denied',
  });
});

test('after a compaction only what is still there as a whole is loaded', () => {
  expect(names(after(load('a'), load('b'), { type: 'session-compact', kept: ['t/b'] }))).toEqual(['b']);
});

test('any sequence of events keeps the cap, holds no skill twice, and gives the same state again', () => {
  const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const event: fc.Arbitrary<SessionEvent> = fc.oneof(
    fc.constant<SessionEvent>({ type: 'turn-start' }),
    fc.constant<SessionEvent>({ type: 'request-start', shown: [] }),
    fc.tuple(id, fc.constantFrom<Lifetime>('turn', 'once', 'session')).map(([name, life]) => load(name, life)),
    id.map((name): SessionEvent => ({ type: 'skill-repeat', skill: `t/${name}` })),
    id.map((name): SessionEvent => ({ type: 'documents-select', skill: skill(name), selected: '*' })),
    id.map((name): SessionEvent => shown(`t/${name}`)),
    fc
      .uniqueArray(id)
      .map((kept): SessionEvent => ({ type: 'session-compact', kept: kept.map((name) => `t/${name}`) })),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      const state = after(...events);
      expect(state.loaded.length).toBeLessThanOrEqual(SETTINGS.maxLoaded);
      expect(new Set(names(state)).size).toBe(state.loaded.length);
      expect(after(...events)).toEqual(state);
    }),
  );
});
