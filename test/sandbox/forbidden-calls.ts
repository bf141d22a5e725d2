import {
  ALLOW,
  NUMBER_OFFSET,
  byNumber,
  callRanges,
  compiledRule,
  encodeProgram,
  load,
  verdict,
  type Rule,
} from '../../src/sandbox/executors/seccomp/bpf.ts';
import { CHECKED_CALLS, ENOSYS, EPERM } from '../../src/sandbox/executors/seccomp/calls.ts';
import { SYSTEM_CALLS } from '../../src/sandbox/executors/seccomp/system-calls.ts';

/** What a machine of the tests lacks. */
export type Lack = 'user namespaces' | 'landlock' | 'mount_setattr' | 'close_range';

const MISSING = compiledRule({ calls: [], allowedIf: [], otherwise: ENOSYS });
const REFUSED = compiledRule({ calls: [], allowedIf: [], otherwise: EPERM });
const UNLESS_NAMESPACES: Rule = CHECKED_CALLS.filter(({ calls }) => calls.includes('clone')).flatMap(compiledRule);

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
