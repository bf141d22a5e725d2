import { expect, test } from 'vitest';

import { lineSubject } from '../../src/policy/action-access.ts';
import { readCommandLine } from '../../src/policy/command/command-line.ts';
import { BY_RISK, decide, type Policy } from '../../src/policy/policy.ts';
import type { SkillControls, SkillEntry } from '../../src/core/skill.ts';
import { ALLOWED_TOOLS_USES } from '../../src/core/config/policy-config.ts';
import { policyWithSkills } from '../../src/policy/skill-rules.ts';

const policy: Policy = {
  layers: [{ origin: { layer: 'built-in', where: '' }, rules: [], otherwise: BY_RISK }],
  grants: [],
};

function skill(controls: Partial<SkillControls>): SkillEntry {
  return {
    id: 'project/careful',
    name: 'careful',
    description: 'Is careful.',
    source: 'project',
    group: '',
    dir: '/p/.agent/skills/careful',
    file: 'SKILL.md',
    digest: '',
    state: 'auto',
    meta: {},
    controls: { disableModelInvocation: false, userInvocable: true, runMode: 'inline', ...controls },
  };
}

function effects(controls: Partial<SkillControls>, commands: readonly string[]): unknown {
  return ALLOWED_TOOLS_USES.map((allowedTools) => [
    allowedTools,
    ...commands.map((line) => {
      const accesses = [{ tool: 'run_command', subject: lineSubject(readCommandLine(line)) }];
      return decide(policyWithSkills({ policy, allowedTools }, [skill(controls)]), accesses).effect;
    }),
  ]);
}

test('what a skill forbids is forbidden however its list is read, and beats the list', () => {
  expect(effects({ allowedTools: ['Bash'], disallowedTools: ['Bash(rm:*)'] }, ['rm x', 'ls; rm x', 'ls'])).toEqual([
    ['restrict', 'deny', 'deny', 'ask'],
    ['grant', 'deny', 'deny', 'allow'],
    ['both', 'deny', 'deny', 'allow'],
    ['ignore', 'deny', 'deny', 'ask'],
  ]);
});

test('a skill that only forbids leaves all else as it is', () => {
  const policies = ALLOWED_TOOLS_USES.map((allowedTools) => policyWithSkills({ policy, allowedTools }, [skill({})]));
  expect(policies).toEqual(ALLOWED_TOOLS_USES.map(() => policy));
  expect(effects({ disallowedTools: ['Write'] }, ['ls'])).toEqual(
    ALLOWED_TOOLS_USES.map((meaning) => [meaning, 'ask']),
  );
});
