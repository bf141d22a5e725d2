/**
 * A program for /usr/bin/perl, which is part of every Debian, Ubuntu and Fedora: `perl -e LAUNCHER_SCRIPT`. It builds a sandbox by system
 * calls and starts one program in it. It loads no modules and reads no files but its descriptors:
 *
 *     3   the plan (plan.ts): what to build and what to start, as words that each end with NUL; or the descriptor of its argument
 *     4   the seccomp filter, unless bubblewrap has loaded it
 *     5   the file by which this process enters its control group, where the plan says so
 *
 * Every step that fails ends the launcher with a message before the READY byte (0x06) was written to stderr; the program has not been
 * started then. The text must not contain a dollar sign before a brace, nor a backtick: it is a template of TypeScript.
 *
 * With namespaces there are three processes, as with bubblewrap: the launcher outside, which dies with its parent; process 1 of the PID
 * namespace, which builds the file system, waits for the program and takes every other process with it when it ends; and the program.
 * With Landlock there are two: one that ends what the program leaves behind, and the program; in bubblewrap (mode `gate`) the program alone.
 */
export const LAUNCHER_SCRIPT = String.raw`
# --- The plan -------------------------------------------------------------------------------------------------------------------------

sub fail { my $why = $!; syswrite STDERR, "cannot $_[0]: $why\n"; exit 1 }

sub slurp {
  open(my $file, '<&=', $_[0]) or fail("open descriptor $_[0]");
  local $/;
  return <$file>;
}

my ($umask, %words) = (umask, call => 2, set => 2, limit => 2, env => 2, arg => 1, read => 2, write => 2, link => 2, file => 2, folder => 1, proc => 1,
  devices => 1, tmpfs => 2, readonly => 1, allow => 2, mounted => 2, covered => 1, free => 1, opened => 1);
my (%call, %set, %env, @limits, @argv, @steps, @rules, @covered, @free, @opened);
{
  my @plan = split /\0/, slurp(@ARGV ? shift @ARGV : 3), -1;
  pop @plan;
  while (@plan) {
    my $kind = shift @plan;
    my $count = $words{$kind} or do { $! = 22; fail("read the plan at $kind") };
    my ($first, $second) = splice @plan, 0, $count;
    if ($kind eq 'call') { $call{$first} = $second + 0 }
    elsif ($kind eq 'set') { $set{$first} = $second }
    elsif ($kind eq 'env') { $env{$first} = $second }
    elsif ($kind eq 'arg') { push @argv, $first }
    elsif ($kind eq 'limit') { push @limits, [$first + 0, $second + 0] }
    elsif ($kind eq 'allow' || $kind eq 'mounted') { push @rules, [$first, $second + 0, $kind eq 'mounted'] }
    elsif ($kind =~ /^(c)overed|^(f)ree|^opened/) { push @{$1 ? \@covered : $2 ? \@free : \@opened}, $first }
    else { push @steps, [$kind, $first, $second] }
  }
}
my $filter = $set{mode} eq 'gate' ? '' : slurp(4);

# Makes a system call. Numbers are passed as integers, strings as pointers.
sub call {
  my ($what, $name, @arguments) = @_;
  my $result = syscall($call{$name}, @arguments);
  fail($what) if $result == -1;
  return $result;
}

sub put {
  my ($path, $text) = @_;
  open(my $file, '>', $path) or fail("open $path");
  defined syswrite($file, $text) or fail("write to $path");
  close $file;
}

# --- The program ----------------------------------------------------------------------------------------------------------------------

# Constants of <linux/prctl.h>.
my ($SET_DEATH_SIGNAL, $SET_DUMPABLE, $DROP_BOUNDING, $SET_SECCOMP, $SET_SUBREAPER, $SET_NO_NEW_PRIVILEGES, $AMBIENT) =
  (1, 4, 24, 22, 36, 38, 47);

# Gives up every capability for good: the bounding set limits what a later exec could gain.
sub drop_privileges {
  for my $capability (0 .. 63) { last if syscall($call{prctl}, $DROP_BOUNDING, $capability, 0, 0, 0) == -1 }
  # Old kernels have no ambient set.
  syscall($call{prctl}, $AMBIENT, 4, 0, 0, 0);
  call('drop capabilities', 'capset', pack('L2', 0x20080522, 0), pack('L6', 0, 0, 0, 0, 0, 0));
  call('set no-new-privileges', 'prctl', $SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0);
}

# Lowers a limit. The inherited hard limit may be lower already, and it cannot be raised.
sub limit {
  my ($resource, $wanted) = @_;
  my $old = pack('Q2', 0, 0);
  syscall($call{prlimit64}, 0, $resource, 0, $old) == -1 and fail("read limit $resource");
  my (undef, $hard) = unpack('Q2', $old);
  my $value = $wanted < $hard ? $wanted : $hard;
  call("set limit $resource", 'prlimit64', 0, $resource, pack('Q2', $value, $value), 0);
}

sub load_filter {
  # struct sock_fprog: the number of instructions and a pointer to them.
  my $program = pack('S x![Q] P', length($filter) / 8, $filter);
  call('load the seccomp filter', 'prctl', $SET_SECCOMP, 2, $program, 0, 0);
}

# The whole input as a file: programs cannot open a socket by /dev/stdin.
sub store_input {
  open(my $file, '+>', undef) or fail('store the input');
  while (sysread STDIN, my $part, 65536) { syswrite($file, $part) or fail('store the input') }
  sysseek $file, 0, 0;
  open(STDIN, '<&', $file) or fail('open the input');
}

# Sets limits and filter, announces itself, waits for a line of the host where the plan says so, and becomes the program.
sub become_program {
  limit(@$_) for @limits;
  if (syscall($call{close_range}, 3, 0xffffffff, 0) == -1) {
    # Linux before 5.9.
    opendir(my $folder, '/proc/self/fd') or fail('list open descriptors');
    my @open = grep { /^\d+$/ && $_ > 2 } readdir $folder;
    closedir $folder;
    for my $descriptor (@open) { syscall($call{close}, $descriptor + 0) }
  }
  load_filter() if $set{mode} ne 'gate';
  syswrite STDERR, "\x06";
  my $byte = $set{gate} ? '' : "\n";
  until ($byte eq "\n") { sysread(STDIN, $byte, 1) or exit 1 }
  store_input() if defined $set{input};
  $env{$set{mark}} = $ENV{$set{mark}} if $set{mark};
  %ENV = %env;
  umask $umask;
  # The block tells perl that the statements below it are meant.
  { exec { $argv[0] } @argv }
  my ($code, $why) = ($! == 2 ? 127 : 126, $!);
  syswrite STDERR, "$argv[0]: $why\n";
  exit $code;
}

# Passes the status on as shells do: 128 plus the number of the signal.
sub exit_as { my $status = $_[0]; exit($status & 127 ? 128 + ($status & 127) : $status >> 8) }

# --- Landlock -------------------------------------------------------------------------------------------------------------------------

# Restricts this process to the rules of the plan: file rights and scopes that the kernel must know.
sub confine {
  my ($handled, $scoped) = @_;
  # struct landlock_ruleset_attr: file rights, network rights, scopes. A kernel takes the part that it knows.
  # BIND_TCP | CONNECT_TCP, where the program may connect to one port.
  my $attributes = pack('Q3', $handled, $set{port} ? 3 : 0, $scoped);
  my $size = $scoped ? 24 : $set{port} ? 16 : 8;
  my $ruleset = call('create a Landlock ruleset', 'landlock_create_ruleset', $attributes, $size, 0);
  call('allow the port', 'landlock_add_rule', $ruleset, 2, pack('Q2', 2, $set{port}), 0) if $set{port};
  for my $rule (@rules) {
    my ($path, $rights, $is_mounted) = @$rule;
    my $file;
    # O_PATH | O_CLOEXEC. What cannot be reached needs no rule.
    if ($is_mounted) {
      # RESOLVE_NO_SYMLINKS: another program could have put a link into a writable folder since it was listed.
      my $how = pack('Q3', 0x280000, 0, 4);
      my $number = syscall($call{openat2}, -100, $path, $how, 24);
      next if $number == -1;
      open($file, '<&=', $number) or fail("open $path");
    } else { sysopen($file, $path, 0x280000) or next }
    # Rights for folders are refused on files.
    $rights &= $set{'file rights'} unless -d $file;
    call("allow $path", 'landlock_add_rule', $ruleset, 1, pack('QL', $rights & $handled, fileno $file), 0);
    close $file;
  }
  # The output may be a named pipe of the host, which programs open again by /dev/stdout; the kernel refuses rules for other pipes.
  for my $stream (0 .. 2) { syscall($call{landlock_add_rule}, $ruleset, 1, pack('QL', 6, $stream), 0) }
  call('apply the Landlock ruleset', 'landlock_restrict_self', $ruleset, 0);
}

# Landlock inside of another sandbox, as far as the kernel has it: versions of its interface with their file rights and scopes.
sub confine_again {
  # LANDLOCK_CREATE_RULESET_VERSION
  my $known = syscall($call{landlock_create_ruleset}, 0, 0, 1);
  for my $version (sort { $b->[0] <=> $a->[0] } map { [split /:/] } split / /, $set{wall}) {
    return confine($version->[1] + 0, $version->[2] + 0) if $version->[0] <= $known;
  }
}

# The processes whose parent is this one, also those that ended.
sub children {
  if (open(my $list, '<', "/proc/$$/task/$$/children")) { return split ' ', <$list> // '' }
  # Some kernels have no such list. The name of a program is in parentheses and may contain any character.
  opendir(my $folder, '/proc') or return ();
  return grep { my $file; /^\d+$/ && open($file, '<', "/proc/$_/stat") && join('', <$file>) =~ /^.*\) \S (\d+) /s && $1 == $$ } readdir $folder;
}

# Ends all children, and their children, which become children of this process. Nothing is reaped before every child was found: what is not
# reaped counts as a process of the user, so that a program which forks without end is soon refused.
sub end_children {
  my %killed;
  while (1) {
    my @found = grep { !$killed{$_}++ } children();
    if (@found) { kill 'KILL', @found; next }
    while ((my $ended = waitpid -1, 1) != 0) { return if $ended == -1; delete $killed{$ended} }
    select undef, undef, undef, 0.001;
  }
}

sub start_program { become_program() }

# No namespaces: one process outside of the rules, and the program.
if ($set{mode} eq 'landlock') {
  call('set the death signal', 'prctl', $SET_DEATH_SIGNAL, 9, 0, 0, 0);
  exit 1 if getppid() != $set{parent};
  chdir $set{cwd} or fail("chdir to $set{cwd}");
  drop_privileges();
  # Processes that the program leaves behind become children of this one, whatever group, session and environment they gave themselves.
  call('adopt processes', 'prctl', $SET_SUBREAPER, 1, 0, 0, 0);
  my $outside = $$;
  my ($program, $is_over);
  # The host, or its death, ends the program, maybe before that is known here, and below what it left behind.
  $SIG{TERM} = sub { $is_over = 1; kill 'KILL', $program if $program };
  call('set the death signal', 'prctl', $SET_DEATH_SIGNAL, 15, 0, 0, 0);
  $program = fork;
  defined $program or fail('fork');
  if (!$program) {
    $SIG{TERM} = 'DEFAULT';
    call('set the death signal', 'prctl', $SET_DEATH_SIGNAL, 9, 0, 0, 0);
    exit 1 if getppid() != $outside;
    # Without scopes a program may signal its own group, so the process outside must be in another.
    setpgrp(0, 0) unless $set{scoped} + 0;
    confine($set{handled} + 0, $set{scoped} + 0);
    start_program();
  }
  # It must not hold the streams of the program, nor leave a core file when it ends by the signal of the program.
  close $_ for *STDIN, *STDOUT, *STDERR;
  call('protect the process outside', 'prctl', $SET_DUMPABLE, 0, 0, 0, 0);
  kill 'KILL', $program if $is_over || getppid() != $set{parent};
  waitpid $program, 0;
  my $status = $?;
  end_children();
  $SIG{TERM} = 'DEFAULT';
  kill $status & 127, $$ if $status & 127;
  exit_as($status);
}

# In bubblewrap.
if ($set{mode} eq 'gate') { confine_again(); start_program() }

# --- Namespaces: the process outside --------------------------------------------------------------------------------------------------

if ($set{entry}) {
  open(my $entry, '>&=', 5) or fail('open the control group');
  defined syswrite($entry, '0') or fail('enter the control group');
  close $entry;
}
# Read before: the new user namespace knows no users until its maps are written.
my ($user, $group) = ($>, (split ' ', $))[0]);
# CLONE_NEWUSER, NEWNS, NEWPID, NEWNET, NEWIPC, NEWUTS, NEWCGROUP.
call('create namespaces', 'unshare', 0x10000000 | 0x20000 | 0x20000000 | 0x40000000 | 0x08000000 | 0x04000000 | 0x02000000);
call('set the death signal', 'prctl', $SET_DEATH_SIGNAL, 9, 0, 0, 0);
# The parent may have died before.
exit 1 if getppid() != $set{parent};
put('/proc/self/setgroups', 'deny');
put('/proc/self/uid_map', "$set{id} $user 1");
put('/proc/self/gid_map', "$set{id} $group 1");
# No nested user namespaces, in addition to the filter.
put('/proc/sys/user/max_user_namespaces', '0');
# A quarter of what the kernel gives the user, whose other programs need inotify too.
for my $kind (grep { -e "/proc/sys/user/max_inotify_$_" } qw(instances watches)) {
  open(my $most, '<', "/proc/sys/fs/inotify/max_user_$kind") or fail("read the limit of inotify $kind");
  put("/proc/sys/user/max_inotify_$kind", int(<$most> / 4) || 1);
}
pipe(my $alive, my $hold) or fail('create a pipe');
my $first = fork;
defined $first or fail('fork');
if ($first) { close $alive; waitpid $first, 0; exit_as($?) }

# --- Process 1: builds the file system ------------------------------------------------------------------------------------------------

call('set the death signal', 'prctl', $SET_DEATH_SIGNAL, 9, 0, 0, 0);
# The end of this pipe means that the process outside died before the death signal was set. O_NONBLOCK = 0x800, F_SETFL = 4.
close $hold;
fcntl($alive, 4, 0x800);
{ my $nothing; my $read = sysread($alive, $nothing, 1); exit 1 if defined $read && $read == 0 }

# SIOCSIFFLAGS with IFF_UP | IFF_RUNNING: the loopback interface of a new network namespace is down.
socket(my $socket, 2, 2, 0) or fail('open a socket');
my $request = pack('a16 s x22', 'lo', 0x41);
ioctl($socket, 0x8914, $request) or fail('bring up the loopback interface');
close $socket;
call('set the host name', 'sethostname', $set{host}, length $set{host});

my ($READ_ONLY, $NO_SUID, $NO_DEVICES, $NO_EXEC, $REMOUNT, $BIND, $RECURSIVE, $PRIVATE) = (1, 2, 4, 8, 32, 4096, 16384, 1 << 18);
umask 0;

sub mount {
  my ($source, $target, $type, $flags, $options) = @_;
  call("mount $type on $target", 'mount', $source, $target, $type, $flags, $options);
}

# Adds flags to a mount and, with $deep, to those below it. A remount must name the flags that are set already, because those of the host
# are locked; mount_setattr, since Linux 5.12, adds to them.
sub restrict {
  my ($target, $flags, $deep) = @_;
  my $attributes = pack('Q4', $flags, 0, 0, 0);
  return if syscall($call{mount_setattr}, -100, my $path = $target, $deep ? 0x8000 : 0, $attributes, 32) != -1;
  $! == 38 or fail("restrict $target");
  my @targets = ($target);
  if ($deep) {
    open(my $table, '<', '/.old/proc/self/mountinfo') or fail('read the mounts');
    while (my $line = <$table>) {
      my $point = (split ' ', $line)[4];
      $point =~ s/\\([0-7]{3})/chr oct $1/ge;
      push @targets, $point if index($point, "$target/") == 0;
    }
    close $table;
  }
  for my $each (@targets) {
    # struct statfs: f_flags is its eleventh word.
    my $status = pack('Q15', (0) x 15);
    syscall($call{statfs}, my $point = $each, $status) == -1 and fail("examine $each");
    my $set = (unpack('Q15', $status))[10] & ($READ_ONLY | $NO_SUID | $NO_DEVICES | $NO_EXEC);
    call("restrict $each", 'mount', 'none', $each, 'none', $REMOUNT | $BIND | $set | $flags, 0);
  }
}

my %made = ('' => 1);
sub make_folder {
  my ($folder) = @_;
  return if $made{$folder}++;
  make_folder($1) if $folder =~ m{^(.+)/[^/]+$}s;
  mkdir($folder, 0755) or $! == 17 or fail("create $folder");
}

# Creates what is mounted over, and its parents.
sub make_target {
  my ($target, $is_folder) = @_;
  return make_folder($target) if $is_folder;
  make_folder($1) if $target =~ m{^(.+)/[^/]+$}s;
  # A file of a mounted folder, which this user may not be allowed to write.
  return if !-l $target && -e _ && !-d _;
  open(my $file, '>>', $target) or fail("create $target");
  close $file;
}

sub bind_mount {
  my ($source, $target, $is_folder, $flags) = @_;
  make_target($target, $is_folder);
  call("bind mount $source", 'mount', $source, $target, 'none', $BIND | $RECURSIVE, 0);
  restrict($target, $flags, 1);
}

call('make mounts private', 'mount', 'none', '/', 'none', $RECURSIVE | $PRIVATE, 0);
# Links in the paths of sources are resolved while the root is that of the host. O_PATH | O_CLOEXEC.
for my $step (@steps) {
  next unless $step->[0] eq 'read' || $step->[0] eq 'write';
  sysopen(my $file, $step->[1], 0x280000) or fail("find source path $step->[1]");
  push @$step, readlink('/proc/self/fd/' . fileno $file), -d $file ? 1 : 0;
}
# The new root is mounted on /tmp only to be made the root; the files of /tmp stay reachable below /.old.
mount('tmpfs', '/tmp', 'tmpfs', $NO_SUID | $NO_DEVICES, 'mode=0755');
mkdir '/tmp/.old', 0700 or fail('create /.old');
call('change the root', 'pivot_root', '/tmp', '/tmp/.old');
chdir '/' or fail('chdir to /');

my %build = (
  read => sub { bind_mount("/.old$_[2]", $_[1], $_[3], $READ_ONLY | $NO_SUID | $NO_DEVICES) },
  write => sub { bind_mount("/.old$_[2]", $_[1], $_[3], $NO_SUID | $NO_DEVICES) },
  folder => sub { make_folder($_[0]) },
  link => sub { make_folder($1) if $_[1] =~ m{^(.+)/[^/]+$}s; symlink($_[0], $_[1]) or fail("link $_[1]") },
  file => sub { make_target($_[1], 0); put($_[1], $_[0]); chmod 0644, $_[1] },
  tmpfs => sub { make_folder($_[1]); mount('tmpfs', $_[1], 'tmpfs', $NO_SUID | $NO_DEVICES, "mode=1777,size=$_[0],nr_inodes=$set{inodes}") },
  proc => sub {
    make_folder($_[0]);
    mount('proc', $_[0], 'proc', $NO_SUID | $NO_DEVICES | $NO_EXEC, 0);
    # /proc/sys checks for user 0 instead of capabilities. Process 1 is hidden, although it cannot be written to either.
    bind_mount("$_[0]/sys", "$_[0]/sys", 1, $READ_ONLY);
    mount('tmpfs', "$_[0]/1", 'tmpfs', $READ_ONLY | $NO_SUID | $NO_DEVICES, 'mode=0555,nr_inodes=1');
  },
  devices => sub {
    make_folder($_[0]);
    mount('tmpfs', $_[0], 'tmpfs', $NO_SUID, 'mode=0755');
    bind_mount("/.old/dev/$_", "/dev/$_", 0, $NO_SUID | $NO_EXEC) for qw(null zero full random urandom tty);
    symlink("/proc/self/fd/$$_[0]", "/dev/$$_[1]") for [0, 'stdin'], [1, 'stdout'], [2, 'stderr'];
    symlink('/proc/self/fd', '/dev/fd');
    symlink('pts/ptmx', '/dev/ptmx');
    make_folder('/dev/pts');
    mount('devpts', '/dev/pts', 'devpts', $NO_SUID | $NO_EXEC, 'newinstance,ptmxmode=0666,mode=620');
  },
);
my @later;
for my $step (@steps) {
  my ($kind, @rest) = @$step;
  if ($kind eq 'readonly') { push @later, $rest[0] }
  else { $build{$kind}->(@rest) }
}
# MNT_DETACH. From here on no file of the host is reachable but those that were mounted.
call('unmount the host', 'umount2', '/.old', 2);
rmdir '/.old' or fail('remove /.old');
restrict($_, $READ_ONLY, 0) for @later;
chdir $set{cwd} or fail("chdir to $set{cwd}");

drop_privileges();
# No process may trace this one or write to its memory. The program is no exception: exec makes it dumpable again.
call('protect process 1', 'prctl', $SET_DUMPABLE, 0, 0, 0, 0);
my $program = fork;
defined $program or fail('fork');
if (!$program) {
  call('start a session', 'setsid');
  confine_again();
  start_program();
}
close STDIN;
while ((my $ended = wait) != -1) { exit_as($?) if $ended == $program }
exit 1;
`;
