/**
 * The public names of policy.
 */

export { listAccesses, type ProgramFacts } from './action-access.ts';
export { decideAccesses, mayReach, requestRights } from './decide-accesses.ts';
export { policyWithSkills } from './skill-rules.ts';
export { QUESTION_MARK, approvalSummary } from './approval-summary.ts';
export { approvalLines, changeLines, shortId } from './approval-text.ts';
export { openApprovals, type Asker } from './approval/approver.ts';
export {
  answerPending,
  isAnswered,
  listPending,
  pendingFolder,
  withdrawPending,
  type PendingFolder,
  type PendingQuestion,
} from './approval/pending-approvals.ts';
export { askCallback } from './approval/read-answer.ts';
export { openRunAnswers, type RunAnswers } from './approval/run-answers.ts';
export { openStoredApprovals, storedId, type StoredApproval } from './approval/stored-approvals.ts';
export { openUsedApprovals } from './approval/used-approvals.ts';
export { capabilityLine } from './capability-text.ts';
export { isTransparent } from './command/command-pattern.ts';
export { findDynamicCommands, refuseDynamicCommands } from './command/dynamic-commands.ts';
export { deniedReads } from './denied-reads.ts';
export { resolvePolicyPath, readPolicy } from './policy-files.ts';
export { ownName } from './policy-rule.ts';
export { decide, narrowPolicy, type Policy } from './policy.ts';
export { isLeftOut, isNeverWritten, isProtectedPath, isSecretPath } from './protected-names.ts';
export { declaredSecrets, isProviderKey } from './secret-names.ts';
export {
  configuredPolicy,
  policyHash,
  runLayers,
  sessionPolicy,
  type ConfiguredPolicy,
  type SessionPolicy,
} from './session-policy.ts';
export { openTrust, type SkillToTrust, type TrustStore, type UntrustedVerdict } from './trust.ts';
