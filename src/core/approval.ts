import type { Action } from './action.ts';
import type { Isolation } from './execution.ts';
import type { Capability, Risk, RuleOrigin } from './access.ts';

/** What an approval covers: this call, the same thing for the rest of the run, or this skill until one of its files changes. */
export const APPROVAL_SCOPES = ['once', 'run', 'skill'] as const;
export type ApprovalScope = (typeof APPROVAL_SCOPES)[number];

/** The skill that an approval is bound to. A different digest is a different skill. */
export interface ApprovedSkill {
  readonly id: string;
  readonly name: string;
  /** Tree digest of the skill. */
  readonly digest: string;
}

/** A question to a person, with everything needed to decide. */
export interface ApprovalRequest {
  /** `sha256:` over everything that would be done; any change makes it a different question. */
  readonly id: string;
  /** As the session's vocabulary calls it, or the name that rules have for a part of the call, such as `use_network`. */
  readonly tool: string;
  readonly risk: Risk;
  readonly action: Action;
  /** The rule that requires approval. */
  readonly rule: string;
  readonly origin: RuleOrigin;
  readonly skill?: ApprovedSkill;
  /** The real path of the project that asks; an approval is for no other. */
  readonly project?: string;
  readonly detail: ApprovalDetail;
  /** Files, folders and hosts that the action touches. */
  readonly affects: readonly string[];
  /** The isolation of the program; absent if no program runs. */
  readonly isolation?: Isolation;
  /** What the program reaches outside its sandbox; absent if no program runs. */
  readonly capabilities?: readonly Capability[];
  /** The scopes that may be granted, narrowest first. */
  readonly scopes: readonly ApprovalScope[];
  /** Requests with the same value are covered by an approval for `run` or `skill`. `once` covers only `id`. */
  readonly coverage: string;
}

/** What would be done, as shown to the person. The text in it is untrusted. */
export type ApprovalDetail =
  | { readonly kind: 'command'; readonly command: string; readonly programs: readonly string[] }
  | { readonly kind: 'script'; readonly script: string; readonly args: readonly string[] }
  | { readonly kind: 'write'; readonly path: string; readonly before: string | undefined; readonly after: string }
  /** `packages`: `name version hash` each. */
  | {
      readonly kind: 'packages';
      readonly requested: readonly string[];
      readonly packages: readonly string[];
      readonly index: string;
      readonly lock: string;
    }
  | { readonly kind: 'delete'; readonly path: string; readonly bytes: number }
  | { readonly kind: 'request'; readonly method: string; readonly url: string; readonly body: string }
  | { readonly kind: 'other'; readonly summary: string };

export interface ApprovalAnswer {
  readonly verdict: 'yes' | 'no';
  readonly scope: ApprovalScope;
  /** Who or what answers. */
  readonly by: 'terminal' | 'callback' | 'option' | 'stored' | 'file';
  /** Why the verdict is `no`: what the person wrote, or a failed callback or a timeout. For `option`: which option. */
  readonly reason?: string;
}

/**
 * What a callback returns. `true` and `verdict: 'yes'` approve; without a scope, this call alone. `nobody`: no person is available;
 * `pending`: the answer comes later. Everything else, and an error, is a no.
 */
export type ApprovalReply =
  | boolean
  | (Pick<ApprovalAnswer, 'verdict'> & Partial<ApprovalAnswer>)
  | 'nobody'
  | 'pending';

/** Answers a request. */
export type Approve = (
  request: ApprovalRequest,
  options: { readonly signal?: AbortSignal },
) => ApprovalReply | Promise<ApprovalReply>;
