/** Which approvals were used, of `--approve` and of the queue: each allows one execution, in whatever process. */
import path from 'node:path';

import { SkillError } from '#core';
import { openSealedFile } from '#platform';

interface UsedApproval {
  /** `sha256:` id of the question; of the queue, the name of the asking. */
  readonly id: string;
  /** How often it was approved and used. */
  readonly uses: number;
}

export interface UsedApprovals {
  /** The word that approves the next execution: the hex digits of the id, and the number of earlier uses if there were any. */
  ticket(id: string): string;
  /**
   * Uses up a ticket. False if it is not the next one. If several processes try, one gets it. Throws `io/failed` if that cannot be
   * remembered, or the memory was edited.
   */
  use(id: string, ticket: string): Promise<boolean>;
  /** As `use`, for an answer from the queue to one asking. */
  useAnswer(asking: string): Promise<boolean>;
}

const MAX_USED = 5_000;

/** `.agent/used-approvals.json` in the home folder; how often it was written is remembered beside the newest lines of the chains. */
export function openUsedApprovals(home: string): UsedApprovals {
  const file = path.join(home, '.agent/used-approvals.json');
  const memory = path.join(home, '.agent/run-heads/used-approvals.json');
  const sealed = openSealedFile<UsedApproval>({
    file,
    home,
    purpose: 'skillwright used approval 1',
    read: parseUsed,
    text: ({ id, uses }) => JSON.stringify([id, uses]),
    name: ({ id }) => id,
    maxEntries: MAX_USED,
    memory,
  });
  const use = async (id: string, ticket: string): Promise<boolean> => {
    const [problem] = sealed.load().problems;
    if (problem !== undefined)
      throw new SkillError({
        code: 'io/failed',
        message: `the memory of used approvals is damaged: ${problem}`,
        hint: `move ${JSON.stringify(file)} and ${JSON.stringify(memory)} away; approvals that were used before then count again`,
        data: { path: file, cause: 'damaged' },
      });
    let isNext = false;
    await sealed.change((all) => {
      const uses = countUses(all, id);
      isNext = toTicketName(id, uses) === ticket;
      return isNext ? [...all.filter((entry) => entry.id !== id), { id, uses: uses + 1 }] : all;
    });
    return isNext;
  };
  return {
    ticket: (id) => toTicketName(id, countUses(sealed.load().entries, id)),
    use,
    useAnswer: (asking) => use(asking, asking),
  };
}

const TICKET = /^(?:sha256:)?([0-9a-f]{64})(?:-[1-9]\d{0,8})?$/;

/** The id of the question that a word of `--approve` is about; undefined if it is not such a word. */
export function ticketId(ticket: string): string | undefined {
  const [, hex] = TICKET.exec(ticket) ?? [];
  return hex === undefined ? undefined : `sha256:${hex}`;
}

function toTicketName(id: string, uses: number): string {
  return `${id.replace(/^sha256:/, '')}${uses === 0 ? '' : `-${String(uses)}`}`;
}

function countUses(entries: readonly UsedApproval[], id: string): number {
  return entries.find((entry) => entry.id === id)?.uses ?? 0;
}

function parseUsed(value: object): UsedApproval | undefined {
  const { id, uses }: Record<string, unknown> = { ...value };
  return typeof id === 'string' && typeof uses === 'number' && Number.isSafeInteger(uses) && uses > 0
    ? { id, uses }
    : undefined;
}
