import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import type { Action } from '../../src/core/action.ts';
import { callback, outcome, sessionIn, trustedWorld, watchedApprovals, type PolicyWorld } from './policy-world.ts';

/** With no other answer than those in the home folder. */
async function later(world: PolicyWorld, action: Action): Promise<string> {
  const { approve } = watchedApprovals({ home: world.home });
  return outcome(await sessionIn(world, { approve }), action);
}

test('a yes does not count in another project, for any kind of action; a link to the project is the project', async () => {
  const world = await trustedWorld();
  const own = path.join(world.home, '.agent/skills/shared');
  mkdirSync(path.dirname(own), { recursive: true });
  cpSync(world.demo, own, { recursive: true });
  const skillFile = path.join(own, 'SKILL.md');
  writeFileSync(skillFile, readFileSync(skillFile, 'utf8').replace('name: demo', 'name: shared'));
  const other = { ...world, project: path.join(world.home, 'other') };
  cpSync(world.project, other.project, { recursive: true });
  const link = { ...world, project: path.join(world.home, 'link') };
  symlinkSync(world.project, link.project);
  const shared: Action = { type: 'run_script', skill: 'user/shared', script: 'go.sh', args: [] };
  const actions: readonly Action[] = [
    shared,
    { type: 'run_command', command: 'ls' },
    { type: 'start_command', command: 'ls' },
    { type: 'write_file', path: 'notes.md', content: 'new' },
    { type: 'delete_file', path: 'old.md' },
    { type: 'edit_file', path: 'notes.md', oldText: 'a note', newText: 'the note' },
    { type: 'network_request', url: 'https://example.com/' },
  ];
  const idsIn = async (place: PolicyWorld, action: Action): Promise<string | undefined> => {
    const said = callback({ verdict: 'no', scope: 'once' });
    await (await sessionIn(place, { approve: said.approve })).perform(action);
    return said.asked[0]?.id;
  };
  for (const action of actions) {
    const [here, linked, elsewhere] = [
      await idsIn(world, action),
      await idsIn(link, action),
      await idsIn(other, action),
    ];
    const isAsked = here !== undefined;
    expect([action.type, isAsked, linked === here, elsewhere === here]).toEqual([action.type, true, true, false]);
    const approved = { home: world.home, approved: [(here ?? '').replace('sha256:', '')] };
    const { answers, approve } = watchedApprovals(approved);
    await (await sessionIn(other, { approve })).perform(action);
    expect([action.type, answers]).toEqual([action.type, ['nobody']]);
  }
  const said = callback({ verdict: 'yes', scope: 'skill' }, world.home);
  expect(await outcome(await sessionIn(world, { approve: said.approve }), shared)).toBe('done');
  expect([await later(world, shared), await later(link, shared)]).toEqual(['done', 'done']);
  expect(await later(other, shared)).toBe('approval/needed');
});
