/**
 * What an action may do: rules, approvals and trust. It never performs an action and reads no skill. Read policy.ts first: layers of rules, of
 * which the strictest wins.
 */

// The policy of a session, and the decision about an action.
export { readPolicy } from './policy-files.ts';
export { openPolicies } from './session-policy.ts';
export { policyWithSkills } from './skill-rules.ts';
export type { Access } from './access.ts';
export { fileAccesses, listAccesses, type FileSubject, type ProgramFacts } from './action-access.ts';
export { decideAccesses, deniedReads, mayReach, requestRights } from './decide-accesses.ts';
export { decide, type Policy } from './policy.ts';
export { ownName } from './tool-names.ts';

// Names with a meaning of their own: files, secrets, commands in skill text.
export { hiddenNames, isSecretPath, resultProtection, writeProtection } from './protected-names.ts';
export { declaredSecrets } from './secret-names.ts';
export { refuseDynamicCommands } from './command/dynamic-commands.ts';

// Approvals: who is asked, what is shown, and what is remembered.
export { openApprovals } from './approval/approver.ts';
export { askCallback, openRunAnswers } from './approval/read-answer.ts';
export { openApprovalFiles } from './approval/approval-files.ts';
export { approvalLines, capabilityLine } from './approval-text.ts';

// Which skills were trusted.
export { openTrust } from './trust.ts';
