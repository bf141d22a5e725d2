import { byNumber, callRanges } from '../../src/sandbox/executors/seccomp/by-number.ts';
import type { Rule } from '../../src/sandbox/executors/seccomp/by-number.ts';
import {
  JUMP_ANY_BIT,
  NUMBER_OFFSET,
  argumentOffset,
  encodeProgram,
  load,
  unlessSkip,
  verdict,
} from '../../src/sandbox/executors/seccomp/bpf.ts';
import { ALLOW, NOT_IMPLEMENTED, NOT_PERMITTED } from '../../src/sandbox/executors/seccomp/filter.ts';
import { SYSTEM_CALLS } from '../../src/sandbox/executors/seccomp/system-calls.ts';

/** What a machine of the tests lacks. */
export type Lack = 'user namespaces' | 'landlock' | 'mount_setattr' | 'close_range';

const MISSING: Rule = [verdict(NOT_IMPLEMENTED)];
const REFUSED: Rule = [verdict(NOT_PERMITTED)];
const NEW_NAMESPACES = 0x7e020000;
const UNLESS_NAMESPACES: Rule = [
  load(argumentOffset(0)),
  unlessSkip(JUMP_ANY_BIT, NEW_NAMESPACES, 1),
  verdict(NOT_PERMITTED),
  verdict(ALLOW),
];

const RULES: Readonly<Record<Lack, Readonly<Record<string, Rule>>>> = {
  // As the default profile of Docker.
  'user namespaces': { unshare: REFUSED, clone: UNLESS_NAMESPACES, clone3: MISSING, mount: REFUSED, setns: REFUSED },
  landlock: { landlock_create_ruleset: MISSING, landlock_add_rule: MISSING, landlock_restrict_self: MISSING },
  mount_setattr: { mount_setattr: MISSING },
  close_range: { close_range: MISSING },
};

/** Loads a filter and becomes another program. */
const SCRIPT =
  'my ($prctl, $hex, @argv) = @ARGV; my $filter = pack("H*", $hex); my $program = pack("S x![Q] P", length($filter) / 8, $filter); syscall($prctl + 0, 38, 1, 0, 0, 0) == 0 && syscall($prctl + 0, 22, 2, $program, 0, 0) == 0 or die "no filter: $!\\n"; exec { $argv[0] } @argv or die "$argv[0]: $!\\n"';

/** A command on a machine without these features of the kernel: a seccomp filter denies them, also to all that it starts. */
export function onMachineWithout(lacks: readonly Lack[], argv: readonly string[]): readonly string[] {
  const calls = SYSTEM_CALLS[process.arch === 'arm64' ? 'arm64' : 'x64'];
  const rules = new Map<number, Rule>();
  for (const lack of lacks) for (const [name, rule] of Object.entries(RULES[lack])) rules.set(calls[name] ?? -1, rule);
  const program = [load(NUMBER_OFFSET), ...byNumber(callRanges(rules, [verdict(ALLOW)]))];
  const hex = Buffer.from(encodeProgram(program)).toString('hex');
  return ['/usr/bin/perl', '-e', SCRIPT, String(calls['prctl']), hex, ...argv];
}
