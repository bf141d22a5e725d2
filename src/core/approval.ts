import type { Action } from './action.ts';
import type { Isolation } from './execution.ts';
import type { Risk, RuleOrigin } from './access.ts';

/** How far a yes reaches: this one call, the same thing for the rest of the run, or this skill as long as no byte of it changes. */
export const APPROVAL_SCOPES = ['once', 'run', 'skill'] as const;
export type ApprovalScope = (typeof APPROVAL_SCOPES)[number];

/** The skill an approval is bound to: another digest is another skill. */
export interface ApprovedSkill {
  readonly id: string;
  readonly name: string;
  /** Of its whole tree. */
  readonly digest: string;
}

/** A question to a person: all that they need to decide, and nothing that somebody else worded. */
export interface ApprovalRequest {
  /** `sha256:` over all that would be done: one changed byte is another question. */
  readonly id: string;
  readonly tool: string;
  readonly risk: Risk;
  readonly action: Action;
  /** The rule that asks. */
  readonly rule: string;
  readonly origin: RuleOrigin;
  readonly skill?: ApprovedSkill;
  readonly detail: ApprovalDetail;
  /** Files, folders and hosts that it touches. */
  readonly affects: readonly string[];
  /** What keeps the program from this machine; absent where no program runs. */
  readonly isolation?: Isolation;
  /** Those that may be answered, the narrowest first. */
  readonly scopes: readonly ApprovalScope[];
  /** What `run` and `skill` would cover: requests with the same key. `once` covers `id` alone. */
  readonly coverage: string;
}

/** What would be done, as it is shown. Text in it comes from strangers. */
export type ApprovalDetail =
  | { readonly kind: 'command'; readonly command: string; readonly programs: readonly string[] }
  | { readonly kind: 'script'; readonly script: string; readonly args: readonly string[] }
  | { readonly kind: 'write'; readonly path: string; readonly before: string | undefined; readonly after: string }
  | { readonly kind: 'delete'; readonly path: string; readonly bytes: number }
  | { readonly kind: 'request'; readonly method: string; readonly url: string; readonly body: string }
  | { readonly kind: 'other'; readonly summary: string };

export interface ApprovalAnswer {
  readonly verdict: 'yes' | 'no';
  readonly scope: ApprovalScope;
  /** Who or what answered. */
  readonly by: 'terminal' | 'callback' | 'option' | 'stored' | 'file';
  /** Why it is a no where nobody said one: a callback that failed, a deadline. */
  readonly reason?: string;
}

/** Answers a question; `nobody` where there is no one to ask, `pending` where the answer will come later. */
export type Approve = (
  request: ApprovalRequest,
  options: { readonly signal?: AbortSignal },
) => Promise<ApprovalAnswer | 'nobody' | 'pending'>;
