import path from 'node:path';

import type { ApprovalRequest, Decision } from '#core';
import { openSealedFile, sha256 } from '#platform';
import { RISKS } from '../risks.ts';
import { isEarlierCoverage } from './earlier-coverage.ts';

/** An answer that is valid for a skill until one of its files changes. */
export interface StoredApproval {
  readonly coverage: string;
  readonly skill: NonNullable<ApprovalRequest['skill']>;
  readonly tool: string;
  /** Higher risks are not covered. */
  readonly risk: Decision['risk'];
  /** The isolation it was given for; empty if no program runs. An approval for a sandbox does not cover a run without one. */
  readonly isolation: string;
  readonly verdict: 'yes' | 'no';
  readonly at: string;
}

/** Which answers to revoke: one by id, all of a skill by name or id, or all. */
export type RevokeTarget = { readonly id: string } | { readonly skill: string } | 'all';

export interface StoredApprovals {
  find(request: ApprovalRequest): StoredApproval | undefined;
  list(): { readonly approvals: readonly StoredApproval[]; readonly problems: readonly string[] };
  /** Replaces an earlier answer to the same question. Throws `io/failed`. */
  save(approval: StoredApproval, options?: { readonly signal?: AbortSignal }): Promise<void>;
  revoke(target: RevokeTarget): Promise<readonly StoredApproval[]>;
}

const MAX_APPROVALS = 1_000;

/** `.agent/approvals.json` in the home folder. Entries that were edited are ignored. */
export function openStoredApprovals(home: string): StoredApprovals {
  const sealed = openSealedFile<StoredApproval>({
    file: path.join(home, '.agent/approvals.json'),
    home,
    purpose: 'skillwright approval 1',
    read: parseApproval,
    text: sealedText,
    name: ({ skill, tool }) => `${skill.id}, ${tool}`,
    maxEntries: MAX_APPROVALS,
  });
  return {
    find: (request) => sealed.load().entries.findLast((approval) => isCovered(request, approval)),
    list() {
      const { entries, problems } = sealed.load();
      const earlier = entries.filter(({ coverage }) => isEarlierCoverage(coverage));
      return { approvals: entries, problems: [...problems, ...earlier.map(earlierProblem)] };
    },
    async save(approval, { signal } = {}) {
      const id = storedId(approval);
      await sealed.change(
        (all) => [...all.filter((each) => storedId(each) !== id), approval],
        signal === undefined ? {} : { signal },
      );
    },
    async revoke(target) {
      let gone: readonly StoredApproval[] = [];
      await sealed.change(
        (all) => {
          gone = all.filter((approval) => isMeant(approval, target));
          return all.filter((approval) => !gone.includes(approval));
        },
        { dropUnsealed: target === 'all' },
      );
      return gone;
    },
  };
}

function earlierProblem(approval: StoredApproval): string {
  const id = storedId(approval);
  return `the answer ${id} is not used: version 0.1 gave it for every project, and approvals are for one project now; you are asked again; remove it: skillwright approvals revoke ${id}`;
}

/** The id that people use for a stored answer: 12 hex digits. */
export function storedId({ coverage, skill, tool, isolation }: StoredApproval): string {
  return sha256(JSON.stringify([coverage, skill.id, skill.digest, tool, isolation])).slice(0, 12);
}

/** The entry to store for an answer; undefined if the request has no skill. */
export function storedFrom(request: ApprovalRequest, verdict: 'yes' | 'no', now: Date): StoredApproval | undefined {
  const { coverage, skill, tool, risk, isolation = '' } = request;
  return skill === undefined ? undefined : { coverage, skill, tool, risk, isolation, verdict, at: now.toISOString() };
}

function isCovered(request: ApprovalRequest, approval: StoredApproval): boolean {
  const { coverage, skill, tool, risk, isolation = '', scopes } = request;
  return (
    skill !== undefined &&
    scopes.includes('skill') &&
    approval.coverage === coverage &&
    approval.tool === tool &&
    approval.isolation === isolation &&
    approval.skill.id === skill.id &&
    approval.skill.digest === skill.digest &&
    (approval.verdict === 'no' || RISKS.indexOf(risk) <= RISKS.indexOf(approval.risk))
  );
}

function isMeant(approval: StoredApproval, target: RevokeTarget): boolean {
  if (target === 'all') return true;
  if ('id' in target) return storedId(approval) === target.id;
  return approval.skill.id === target.skill || approval.skill.name === target.skill;
}

function sealedText({ coverage, skill, tool, risk, isolation, verdict, at }: StoredApproval): string {
  return JSON.stringify([coverage, skill.id, skill.name, skill.digest, tool, risk, isolation, verdict, at]);
}

function parseApproval(value: object): StoredApproval | undefined {
  const fields: Record<string, unknown> = { ...value };
  const { coverage, skill, tool, isolation, verdict, at } = fields;
  const risk = RISKS.find((known) => known === fields['risk']);
  if (typeof skill !== 'object' || skill === null || risk === undefined) return undefined;
  const { id, name, digest }: Record<string, unknown> = { ...skill };
  if (typeof id !== 'string' || typeof name !== 'string' || typeof digest !== 'string') return undefined;
  if (typeof coverage !== 'string' || typeof tool !== 'string' || typeof isolation !== 'string') return undefined;
  if ((verdict !== 'yes' && verdict !== 'no') || typeof at !== 'string') return undefined;
  return { coverage, skill: { id, name, digest }, tool, risk, isolation, verdict, at };
}
