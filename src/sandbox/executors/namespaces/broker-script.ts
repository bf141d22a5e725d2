import { BROKER_LOOP } from './broker-loop-script.ts';
import { HIDDEN_NAMES_SCRIPT } from './hidden-names-script.ts';
import { LAUNCHER_SCRIPT } from './launcher-script.ts';

/**
 * The part of the launcher script that hides files of mounted folders by their names when they are opened, added where a program sees such
 * a folder. Mounts cover what exists when a program starts; an editor that saves by renaming removes the cover, and a new file has none.
 *
 * A seccomp filter hands the calls of the program that open, create, rename and link files to the broker, a process beside it. For a call
 * that could read a file, the broker resolves the path as the program would, looks at the path of what it found, opens it and passes the
 * open file on; such a call never goes on in the kernel, because another thread of the program could change the path meanwhile. Folders,
 * files that are only written, and executables that are started go on in the kernel: nothing can be read by them. In these folders Landlock
 * denies the program to create, rename and link, so that it cannot give another name to a hidden file; the broker does it in its place.
 *
 * The broker has the rights of a program without hidden names, and no capabilities. Without it every such call fails.
 */
const BROKER_START = String.raw`
# --- The program below its broker ----------------------------------------------------------------------------------------------------------

my ($program_id, $program_status);

# Starts the program below this process, which becomes the broker and ends as the program ends.
sub start_program {
  call('close descriptors', 'close_range', 3, 0xffffffff, 0);
  socketpair(my $ours, my $theirs, 1, 1, 0) or fail('create a pair of sockets');
  # Processes that lose their parent stay below this one, which must be allowed to read the paths that they name.
  call('adopt processes', 'prctl', $SET_SUBREAPER, 1, 0, 0, 0);
  # No process may trace the broker or write to its memory.
  call('protect the broker', 'prctl', $SET_DUMPABLE, 0, 0, 0, 0);
  my $broker = $$;
  # Comes between any two statements.
  $SIG{CHLD} = sub {
    local ($!, $?);
    while ((my $ended = waitpid -1, 1) > 0) { $program_status = $? if !$program_id || $ended == $program_id }
  };
  $program_id = fork;
  defined $program_id or fail('fork');
  if (!$program_id) {
    $SIG{CHLD} = 'DEFAULT';
    call('set the death signal', 'prctl', $SET_DEATH_SIGNAL, 9, 0, 0, 0);
    exit 1 if getppid() != $broker;
    # A program may signal its group. The group of Landlock's processes is the one that the host ends.
    call('start a session', 'setsid') if $set{mode} ne 'landlock';
    # The broker must read the paths that this process opens.
    call('show the memory', 'prctl', $SET_DUMPABLE, 1, 0, 0, 0);
    confine_names();
    send_listener($theirs);
    become_program();
  }
  close $theirs;
  # Compiled while the program is prepared. Without the broker nothing of the program runs.
  eval $set{broker} . 'serve($ours)';
  fail("serve the program: $@");
}

sub is_below { my ($path, $folder) = @_; return $path eq $folder || index($path, $folder eq '/' ? '/' : "$folder/") == 0 }

# Denies to create, rename and link in covered folders, and in those around them, for which Landlock has no exceptions.
sub confine_names {
  # MAKE_DIR and MAKE_REG; REFER.
  my ($MAKE, $REFER) = (0x180, 0x2000);
  my $known = syscall($call{landlock_create_ruleset}, 0, 0, 1);
  my $attributes = pack('Q3', $MAKE | $REFER, 0, $known >= 6 ? 3 : 0);
  my $ruleset = call('create a Landlock ruleset', 'landlock_create_ruleset', $attributes, $known >= 6 ? 24 : 8, 0);
  my $allow = sub {
    my ($descriptor, $rights) = @_;
    call('allow to create files', 'landlock_add_rule', $ruleset, 1, pack('QL', $rights, $descriptor), 0);
  };
  for my $path ('/', @opened, @free) {
    # O_PATH | O_CLOEXEC.
    sysopen(my $file, $path, 0x280000) or next;
    if ($path eq '/') { $allow->(fileno $file, $REFER); next }
    my $real = readlink('/proc/self/fd/' . fileno $file);
    # Another program may have put a link to a covered folder into a writable one.
    next if grep { is_below($_, $real) } @covered;
    next if (grep { is_below($real, $_) } @covered) && !($real eq $path && grep { $_ eq $path } @free);
    $allow->(fileno $file, $MAKE) if -d $file;
  }
  call('confine names', 'landlock_restrict_self', $ruleset, 0);
}

# Hands the calls of this process and its children to the broker: a filter that loads the number of the call and compares.
sub send_listener {
  my ($socket) = @_;
  my @numbers = grep { $_ >= 0 } @call{qw(open openat creat mkdir mkdirat rename renameat renameat2 link linkat)};
  my $filter = pack('SCCL', 0x20, 0, 0, 0);
  $filter .= pack('SCCL', 0x15, @numbers - $_ + 4, 0, $numbers[$_]) for 0 .. $#numbers;
  # prctl(PR_SET_DUMPABLE) does nothing (SECCOMP_RET_ERRNO of 0): it would keep the broker from reading paths.
  $filter .= pack('SCCL', 0x15, 0, 2, $call{prctl}) . pack('SCCL', 0x20, 0, 0, 16) . pack('SCCL', 0x15, 1, 0, $SET_DUMPABLE);
  # SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO, SECCOMP_RET_USER_NOTIF.
  $filter .= pack('SCCL', 6, 0, 0, $_) for 0x7fff0000, 0x50000, 0x7fc00000;
  my $program = pack('S x![Q] P', length($filter) / 8, $filter);
  # SECCOMP_FILTER_FLAG_NEW_LISTENER and, so that no signal repeats a call that was made, SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV.
  my $descriptor = call('hand over calls', 'seccomp', 1, 8 | 32, $program);
  my ($byte, $control) = ("\0", pack('Q l3 x4', 20, 1, 1, $descriptor));
  call('send the calls', 'sendmsg', fileno $socket, pack_message($byte, $control), 0);
}

# struct msghdr with one byte of data. SOL_SOCKET and SCM_RIGHTS are in the control message.
my $vector;
sub pack_message {
  $vector = pack('P Q', $_[0], 1);
  return pack('Q2 P Q P Q Q', 0, 0, $vector, 1, $_[1], length $_[1], 0);
}
`;

/** The launcher for a program that sees folders whose files are hidden by name. */
export const LAUNCHER_WITH_BROKER: string = LAUNCHER_SCRIPT.replace(
  'sub start_program { become_program() }\n',
  () => BROKER_START,
);

/** What the broker compiles after it has started the program. */
export const BROKER_SCRIPT = BROKER_LOOP + HIDDEN_NAMES_SCRIPT;
