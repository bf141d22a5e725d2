/**
 * A thousand conversations on one library: what each one keeps in memory, which handles it holds, whether what one loads is seen by
 * another, and what remains when all are closed.
 */
import { existsSync, readdirSync } from 'node:fs';

import type { Conversation } from '../src/library/conversation.ts';
import { openSkills, type SkillLibrary } from '../src/library/open-skills.ts';
import { memorySkills, type MemorySkill } from '../src/library/skill-source.ts';
import { usedHeap } from './heap.ts';
import type { BenchRow } from './row.ts';

const SKILLS = 100;
const CONVERSATIONS = 1_000;
/** Opened before the measurement, so that what is loaded once does not count. */
const WARM = 20;
/** Each has its own list of skills and its tools in the shapes of several libraries. */
const MAX_KIB = 200;
/** Of the memory of all conversations, what may remain after they are closed: compiled code and caches. */
const MAX_LEFT = 0.1;

const skills: readonly MemorySkill[] = Array.from({ length: SKILLS }, (_, index) => ({
  name: `skill-${String(index)}`,
  description: `Does thing ${String(index)} with files of kind ${String(index * 7)}. Use it when a request names them.`,
  body: `Secret of skill ${String(index)}.\n${'A line of instructions.\n'.repeat(40)}`,
}));

const nameOf = (index: number): string => `skill-${String(index % SKILLS)}`;

/** Open files and sockets of this process; undefined where the system does not list them. */
function openHandles(): number | undefined {
  return existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : undefined;
}

async function talk(library: SkillLibrary, index: number): Promise<Conversation> {
  const chat = await library.conversation({ id: `user-${String(index)}` });
  const { isError } = await chat.call('load_skill', { skill: nameOf(index) });
  if (isError) throw new Error(`${nameOf(index)} was not loaded`);
  return chat;
}

/** Takes each out of the list, so that nothing but its owner may still hold it. */
async function closeAll(open: { close(): Promise<void> }[]): Promise<void> {
  for (let one = open.pop(); one !== undefined; one = open.pop()) await one.close();
}

export async function benchConversations(): Promise<readonly BenchRow[]> {
  const library = await openSkills({ from: memorySkills(skills) });
  for (let index = 0; index < WARM; index += 1) await (await talk(library, index)).close();
  const [handles, heap] = [openHandles(), usedHeap()];
  const chats: Conversation[] = [];
  for (let index = 0; index < CONVERSATIONS; index += 1) chats.push(await talk(library, index));
  const kept = usedHeap() - heap;
  const more = handles === undefined ? undefined : (openHandles() ?? 0) - handles;
  const mixed = chats.filter(({ loaded }, index) => loaded.join() !== nameOf(index)).length;
  // A second user of the same skill gets its text, and not the note that it is loaded already.
  const second = await chats[1]?.call('load_skill', { skill: nameOf(0) });
  const isSeparate = mixed === 0 && second?.text.includes('Secret of skill 0.') === true;
  await closeAll(chats);
  const left = usedHeap() - heap;
  await library.close();

  const each = kept / CONVERSATIONS;
  return [
    {
      name: `memory of a conversation, of ${String(CONVERSATIONS)} on one library of ${String(SKILLS)} skills`,
      value: each / 1024,
      unit: 'KiB',
      bound: `<= ${String(MAX_KIB)}`,
      ok: each / 1024 <= MAX_KIB,
    },
    {
      name: 'files and sockets that they hold open',
      value: more ?? Number.NaN,
      unit: 'handles',
      bound: '<= 0',
      ...(more !== undefined && { ok: more <= 0 }),
    },
    {
      name: 'conversations that have loaded what another one loaded',
      value: isSeparate ? 0 : Math.max(1, mixed),
      unit: 'conversations',
      bound: '<= 0',
      ok: isSeparate,
    },
    {
      name: 'memory that remains when all are closed, of what they had',
      value: Math.max(0, left) / kept,
      unit: 'times',
      bound: `<= ${String(MAX_LEFT)}`,
      ok: left / kept <= MAX_LEFT,
    },
  ];
}
