/** The figures of docs/policy.md: what is wrongly allowed, and what is asked about although a rule names it. */
import { expect } from 'vitest';

import type { Decision } from '../../../src/core/access.ts';
import { listAccesses, type AccessFacts } from '../../../src/policy/action-access.ts';
import { decide, type Policy } from '../../../src/policy/policy.ts';
import { verifies } from '../../conformance/verifies.ts';
import { policyOf } from '../policy-support.ts';
import { ATTACKS } from './attack-lines.ts';
import { AGENT_LINES, AGENT_POLICY } from './agent-lines.ts';
import { DENIED_LINES, DENIED_RULES, RENAMED_LINES, RENAMED_RULES, RENAMED_VARIABLES } from './denied-lines.ts';
import { HARMLESS } from './harmless-lines.ts';
import { SKILL_COMMANDS, SKILL_POLICY } from './skill-commands.ts';

const SKILL = { id: 'project/x', name: 'x' };

async function decided(
  line: string,
  policy: Policy,
  facts: AccessFacts = { isolation: 'bubblewrap' },
): Promise<Decision> {
  return decide(policy, await listAccesses({ type: 'run_command', command: line }, { skill: SKILL, ...facts }));
}

/** The lines whose decision is of this kind. */
async function linesWith(
  lines: readonly string[],
  policy: Policy,
  isMeant: (decision: Decision) => boolean,
  facts?: AccessFacts,
): Promise<readonly string[]> {
  const decisions = await Promise.all(lines.map((line) => decided(line, policy, facts)));
  return lines.filter((_, place) => isMeant(decisions[place] ?? expect.fail('no decision')));
}

function allowedBy(
  allow: readonly string[],
  lines: readonly string[],
): readonly { readonly line: string; readonly policy: Policy }[] {
  const policy = policyOf({ allow: bash(allow) });
  return lines.map((line) => ({ line, policy }));
}

const bash = (texts: readonly string[]): readonly string[] => texts.map((text) => `Bash(${text})`);

verifies(['POL-6', 'POL-12'], 'no line that runs a program which no rule names is allowed', async () => {
  const renamed = { allow: RENAMED_RULES, lines: RENAMED_LINES };
  const all = [...ATTACKS, renamed].flatMap(({ allow, lines }) => allowedBy(allow, lines));
  const effects = await Promise.all(all.map(async ({ line, policy }) => (await decided(line, policy)).effect));
  const wrong = all.filter((_, place) => effects[place] === 'allow').map(({ line }) => line);
  console.log(`wrongly allowed: ${String(wrong.length)} of ${String(all.length)} lines`);
  expect(wrong).toEqual([]);
  expect(all.length).toBeGreaterThanOrEqual(450);
});

verifies(
  'POL-14',
  'no rule for a program allows a call with a variable that may change what its name means',
  async () => {
    const policy = policyOf({ allow: bash(RENAMED_RULES) });
    const decisions = await Promise.all(
      RENAMED_VARIABLES.map(async (env) =>
        decide(
          policy,
          await listAccesses(
            { type: 'run_command', command: 'git status', env },
            { skill: SKILL, isolation: 'bubblewrap' },
          ),
        ),
      ),
    );
    expect(decisions.map(({ effect }) => effect)).toEqual(RENAMED_VARIABLES.map(() => 'ask'));
  },
);

verifies('POL-14', 'lines without a program need no rule, unless nothing isolates them', async () => {
  const lines = [
    'echo hello',
    '[[ -f x && 1 -lt 2 ]]',
    'while read -r l; do echo "$l"; done <<< "$x"',
    'x=1',
    '> file',
    'cd / && export A=b',
  ];
  const reading = 'while read -r l; do echo "$l"; done < f';
  for (const policy of [policyOf(), policyOf({ allow: ['Bash(git:*)'] })]) {
    expect(await linesWith(lines, policy, ({ effect }) => effect !== 'allow')).toEqual([]);
    expect(await linesWith(lines, policy, ({ effect }) => effect === 'allow', { isolation: 'none' })).toEqual([]);
  }
  // File tools ask about some files, and so does a line that reads files while no rule allows any command.
  expect((await decided(reading, policyOf())).effect).toBe('ask');
  expect((await decided(reading, policyOf({ allow: ['Bash(git:*)'] }))).effect).toBe('allow');
  expect((await decided('echo a', policyOf({ deny: ['Bash(echo:*)'] }))).effect).toBe('deny');
  expect((await decided('echo a', policyOf({ ask: ['Bash'] }))).effect).toBe('ask');
});

verifies('POL-14', 'at most 3 % of the harmless lines of agents are asked about', async () => {
  const policy = policyOf({ allow: bash(AGENT_POLICY) });
  const asked = await linesWith(AGENT_LINES, policy, ({ effect }) => effect !== 'allow');
  const share = (100 * asked.length) / AGENT_LINES.length;
  console.log(
    `lines of agents asked about: ${String(asked.length)} of ${String(AGENT_LINES.length)} (${share.toFixed(1)} %)`,
  );
  expect(share, asked.join('\n')).toBeLessThanOrEqual(3);
  expect(AGENT_LINES.length).toBeGreaterThanOrEqual(200);
});

verifies(['POL-6', 'POL-12'], 'no line that may run a denied program is allowed, even if all else is', async () => {
  const policy = policyOf({ allow: ['*'], deny: bash(DENIED_RULES) });
  const wrong = await linesWith(DENIED_LINES, policy, ({ effect }) => effect === 'allow');
  console.log(`denied and allowed: ${String(wrong.length)} of ${String(DENIED_LINES.length)} lines`);
  expect(wrong).toEqual([]);
});

verifies('POL-12', 'ordinary lines are allowed by a rule that names their programs', async () => {
  const all = HARMLESS.flatMap(({ allow, lines }) => allowedBy(allow, lines));
  const decisions = await Promise.all(
    all.map(async ({ line, policy }) => ({ line, ...(await decided(line, policy)) })),
  );
  const refused = decisions.flatMap(({ line, effect, reason }) => (effect === 'allow' ? [] : [{ line, reason }]));
  console.log(`harmless and asked about: ${String(refused.length)} of ${String(all.length)} lines`);
  expect(refused).toEqual([]);
  expect(all.length).toBeGreaterThanOrEqual(158);
});

verifies('POL-12', 'commands of public skills are allowed by rules that name their programs', async () => {
  const policy = policyOf({ allow: bash(SKILL_POLICY) });
  const refused = await linesWith(SKILL_COMMANDS, policy, ({ effect }) => effect !== 'allow');
  console.log(`commands of skills asked about: ${String(refused.length)} of ${String(SKILL_COMMANDS.length)}`);
  expect(refused).toEqual([]);
});

/** A rule grants the program with all of its options, and so they matter only where the program reaches something. */
const OPTIONS = [
  'git config core.fsmonitor evil; git status',
  'git -c core.pager=evil log',
  'gcc -fplugin=./evil.so x.c',
  'cmake -C evil.cmake .',
  'openssl engine -t ./evil.so',
  "awk 'BEGIN{system(1)}'",
  'LD_PRELOAD=./evil.so git status',
  'GIT_SSH_COMMAND=evil git fetch',
];
const NAMED = ['git:*', 'gcc:*', 'cmake:*', 'openssl:*', 'awk:*'];
const CAPABILITIES: readonly (readonly [AccessFacts, string])[] = [
  [{ isolation: 'bubblewrap', hosts: ['example.org'] }, 'use_network'],
  [{ isolation: 'bubblewrap', secrets: ['API_KEY'] }, 'use_secret'],
  [{ isolation: 'bubblewrap', writes: ['/srv/app'] }, 'mount_write'],
  [{ isolation: 'none' }, 'unsafe_local'],
];

verifies(
  'POL-12',
  'the options of a named program are its own affair in a sandbox, and each capability is asked about',
  async () => {
    const allow = bash(NAMED);
    const policy = policyOf({ allow });
    expect(await linesWith(OPTIONS, policy, ({ effect }) => effect !== 'allow')).toEqual([]);
    const asked = await Promise.all(
      CAPABILITIES.map(([facts, expected]) =>
        linesWith(
          OPTIONS,
          policy,
          ({ effect, risk, tool }) =>
            effect !== 'ask' || risk !== 'high' || (tool !== expected && facts.isolation !== 'none'),
          facts,
        ),
      ),
    );
    // A line that sets variables is asked about by its command first.
    expect(asked.flat().filter((line) => !/^[A-Z_]+=/.test(line))).toEqual([]);
    const open = policyOf({ allow: [...allow, 'use_network', 'use_secret', 'mount_write', 'unsafe_local'] });
    const effects = await Promise.all(
      CAPABILITIES.map(([facts]) =>
        Promise.all(OPTIONS.map(async (line) => (await decided(line, open, facts)).effect)),
      ),
    );
    const granted = OPTIONS.map((line) => (/^[A-Z_]+=/.test(line) ? 'ask' : 'allow'));
    expect(effects).toEqual([granted, granted, granted, OPTIONS.map(() => 'ask')]);
  },
);
