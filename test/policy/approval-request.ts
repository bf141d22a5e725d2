import type { ApprovalDetail, ApprovalRequest } from '../../src/core/approval.ts';

export const DIGEST = `sha256-tree:${'ab'.repeat(32)}`;

/** A question about a command of a skill, with what a test says instead. */
export function requestOf(more: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    id: `sha256:${'0123456789ab'.padEnd(64, 'c')}`,
    tool: 'run_command',
    risk: 'medium',
    action: { type: 'run_command', command: 'git status' },
    rule: 'run_command',
    origin: { layer: 'user', where: '/home/me/.agent/config.json' },
    skill: { id: 'project/release', name: 'release', digest: DIGEST },
    detail: { kind: 'command', command: 'git status', programs: ['git'] },
    affects: [],
    isolation: 'bubblewrap',
    scopes: ['once', 'run', 'skill'],
    coverage: 'run_command git',
    ...more,
  };
}

export function commandRequest(command: string, more: Partial<ApprovalRequest> = {}): ApprovalRequest {
  const detail: ApprovalDetail = { kind: 'command', command, programs: [] };
  return requestOf({ detail, action: { type: 'run_command', command }, ...more });
}
