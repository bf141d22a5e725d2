/** The part of the broker that answers calls; see `broker-script.ts`. */
export const BROKER_LOOP = String.raw`
# Constants of <linux/fcntl.h> that differ between x64, which has the call open, and arm64.
my ($FOLDER, $NO_FOLLOW) = $call{open} < 0 ? (0x4000, 0x8000) : (0x10000, 0x20000);
my ($CREATE, $NEW, $TRUNCATE, $NO_TERMINAL, $CLOSE_ON_EXEC, $PATH_ONLY, $TMPFILE) = (0x40, 0x80, 0x200, 0x100, 0x80000, 0x200000, 0x400000);
my ($ENOENT, $EACCES, $EFAULT, $EEXIST, $EXDEV, $EINVAL, $ELOOP, $EOPNOTSUPP) = (2, 13, 14, 17, 18, 22, 40, 95);
my ($ENXIO, $EISDIR, $ENAMETOOLONG) = (6, 21, 36);
my $HERE = -100;
my $listener;
# A set of signals with SIGCHLD.
my $child_ended = pack('Q', 1 << 16);
# Calls by number; arm64 lacks some.
my %served = map { $call{$_} < 0 ? () : ($call{$_} => $_) } qw(open openat creat mkdir mkdirat rename renameat renameat2 link linkat);

# Answers the calls of the program until it ends, and ends like it.
sub serve {
  my ($socket) = @_;
  umask 0;
  $listener = receive_listener($socket);
  close $socket;
  # It must not hold the streams of the program.
  close STDIN;
  close STDOUT;
  close STDERR;
  load_filter() if $set{mode} ne 'gate';
  my $handle = syscall($call{pidfd_open}, $program_id, 0);
  # SECCOMP_IOCTL_NOTIF_SET_FLAGS with SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP, since Linux 6.6: the two processes share a processor.
  syscall($call{ioctl}, $listener, 0x40082104, 1);
  my $bits = '';
  vec($bits, $_, 1) = 1 for grep { $_ != -1 } $listener, $handle;
  # Without a handle the program has ended.
  until ($handle == -1 || $listener == -1 || defined $program_status) {
    next if select(my $ready = $bits, undef, undef, undef) <= 0;
    last if vec($ready, $handle, 1);
    # SECCOMP_IOCTL_NOTIF_RECV of struct seccomp_notif.
    my $event = "\0" x 80;
    next if syscall($call{ioctl}, $listener, 0xc0502100, $event) == -1;
    # A signal would interrupt an answer: the call would return 0 as if it had opened a file, or never return.
    syscall($call{rt_sigprocmask}, 0, $child_ended, 0, 8);
    answer(unpack 'Q L x4 l x12 Q6', $event);
    syscall($call{rt_sigprocmask}, 1, $child_ended, 0, 8);
  }
  # The program failed before it had a listener, or it has ended; the signal brings the status.
  select(undef, undef, undef, 0.001) until defined $program_status;
  kill $program_status & 127, $$ if $set{mode} eq 'landlock' && $program_status & 127;
  exit_as($program_status);
}

sub receive_listener {
  my ($socket) = @_;
  my ($byte, $control) = ("\0", "\0" x 24);
  my $count = syscall($call{recvmsg}, fileno $socket, pack_message($byte, $control), 0);
  return $count < 1 ? -1 : (unpack 'Q l3', $control)[3];
}

# SECCOMP_IOCTL_NOTIF_SEND of struct seccomp_notif_resp.
sub reply { my ($id, $error) = @_; syscall($call{ioctl}, $listener, 0xc0182101, pack('Q q l L', $id, 0, -$error, 0)) }

# SECCOMP_USER_NOTIF_FLAG_CONTINUE: the kernel makes the call, as Landlock allows.
sub go_on { syscall($call{ioctl}, $listener, 0xc0182101, pack('Q q l L', $_[0], 0, 0, 1)) }

# Answers with the error of a call of this process, or with success.
sub reply_result { my ($id, $result) = @_; reply($id, $result == -1 ? $! + 0 : 0) }

# SECCOMP_IOCTL_NOTIF_ADDFD with SECCOMP_ADDFD_FLAG_SEND: the file becomes a descriptor of the program, which the call returns.
sub reply_file {
  my ($id, $descriptor, $flags) = @_;
  return reply($id, $! + 0) if $descriptor == -1;
  my $error = syscall($call{ioctl}, $listener, 0x40182103, pack('Q L4', $id, 2, $descriptor, 0, $flags & $CLOSE_ON_EXEC)) == -1 ? $! + 0 : 0;
  syscall($call{close}, $descriptor);
  # The program has too many open files.
  reply($id, $error) if $error;
}

# Reads a path from the memory of a process; undefined, with an error, if it has none.
sub read_path {
  my ($pid, $address) = @_;
  my $path = "\0" x 4096;
  # Opened for each call: after vfork, what is open shows the memory of the parent, also when the process is another program.
  sysopen(my $memory, "/proc/$pid/mem", $CLOSE_ON_EXEC) or do { $! = $EFAULT; return undef };
  my $count = syscall($call{pread64}, fileno $memory, $path, 4096, $address);
  my $end = $count > 0 ? index($path, "\0") : -1;
  return substr($path, 0, $end) if $end >= 0 && $end < $count;
  $! = $count == 4096 ? $ENAMETOOLONG : $EFAULT;
  return undef;
}

# The path by which this process finds what the program means.
sub find_path {
  my ($pid, $folder, $path) = @_;
  return $path unless defined $path && $path ne '';
  $folder = unpack('l', pack('L', $folder & 0xffffffff));
  return "/proc/$pid/" . ($folder == $HERE ? 'cwd' : "fd/$folder") . "/$path" unless $path =~ m{^/};
  # Links that lead every process to itself.
  $path =~ s{^/+dev/+std(?:(in)|(out)|err)\z}{'/proc/self/fd/' . ($1 ? 0 : $2 ? 1 : 2)}e;
  $path =~ s{^/+dev/+fd(?=/|\z)}{/proc/self/fd};
  $path =~ s{^/+proc/+(?:self|thread-self)(?=/|\z)}{/proc/$pid};
  return $path;
}

# A path that leads to what is open in this process.
sub held { return "/proc/self/fd/$_[0]" }

sub open_at { my ($folder, $path, $flags, $mode) = @_; return syscall($call{openat}, $folder, $path, $flags | $CLOSE_ON_EXEC, ($mode // 0) + 0) }

# Whether the broker answers for a path: 2 in a covered folder, 1 in a folder around one, which Landlock cannot allow without it.
my @around = grep { my $outer = $_; grep { is_below($_, $outer) } @covered } @opened;
sub is_served {
  my ($path) = @_;
  for my $folder (@free) { return 0 if is_below($path, $folder) }
  for my $folder (@covered) { return 2 if is_below($path, $folder) }
  for my $folder (@around) { return 1 if is_below($path, $folder) }
  return 0;
}

# Opens the folder of a path. Returns nothing, or its descriptor, its path, the last name, and whether the broker answers for it.
sub open_parent {
  my ($path) = @_;
  $! = 0;
  ($path //= '') =~ s{/+\z}{};
  my ($folder, $name) = $path =~ m{^(.*)/([^/]+)\z}s or return;
  return if $name eq '.' || $name eq '..';
  my $parent = open_at($HERE, $folder eq '' ? '/' : "$folder/", $PATH_ONLY | $FOLDER);
  return if $parent == -1;
  my $real = readlink(held($parent));
  if (!defined $real) {
    my $error = $! + 0;
    syscall($call{close}, $parent);
    $! = $error;
    return;
  }
  my $is_served = is_served("$real/$name");
  return ($parent, $real, $name, $is_served);
}

# Mode bits without those that the program's umask takes away.
sub masked {
  my ($pid, $mode) = @_;
  sysopen(my $file, "/proc/$pid/status", $CLOSE_ON_EXEC) or return $mode & 0700;
  sysread($file, my $text, 4096);
  return $mode & 01777 & ~oct(($text // '') =~ /^Umask:\s*(\d+)/m ? $1 : '077');
}

sub answer {
  my ($id, $pid, $number, @words) = @_;
  my $name = $served{$number};
  return answer_open($id, $pid, $HERE, @words[0 .. 2]) if $name eq 'open';
  return answer_open($id, $pid, @words[0 .. 3]) if $name eq 'openat';
  return answer_open($id, $pid, $HERE, $words[0], $CREATE | $TRUNCATE | 1, $words[1]) if $name eq 'creat';
  return answer_mkdir($id, $pid, $HERE, @words[0, 1]) if $name eq 'mkdir';
  return answer_mkdir($id, $pid, @words[0 .. 2]) if $name eq 'mkdirat';
  my @pair = $name =~ /at2?\z/ ? @words[0 .. 3] : ($HERE, $words[0], $HERE, $words[1]);
  return answer_move($id, $pid, 'renameat2', @pair, $name eq 'renameat2' ? $words[4] : 0) if $name =~ /^rename/;
  return answer_move($id, $pid, 'linkat', @pair, $name eq 'linkat' ? $words[4] : 0);
}

# Folders of the system, where programs can put no link.
my $system = join '|', grep { my $top = "/$_"; !grep { is_below($_, $top) } @covered, @around } qw(usr lib lib64 bin sbin etc);

sub answer_open {
  my ($id, $pid, $folder, $address, $flags, $mode) = @_;
  $flags &= 0xffffffff;
  my $reads = ($flags & 3) != 1;
  # These can read no file, whatever the kernel finds at the path.
  return go_on($id) if $flags & $PATH_ONLY || ($flags & $FOLDER && !($flags & $TMPFILE)) || !($reads || $flags & $CREATE);
  my $path = find_path($pid, $folder, read_path($pid, $address));
  return $reads ? reply($id, defined $path ? $ENOENT : $! + 0) : go_on($id) unless defined $path && $path ne '';
  return reply_file($id, open_at($HERE, $path, $flags | $NO_TERMINAL, 0), $flags)
    if $system ne '' && !($flags & ($CREATE | $TMPFILE)) && $path =~ m{^/(?:$system)/} && index($path, '..') < 0;
  # A file that loses its name at this moment, as when another one replaces it, is looked up again.
  for (1 .. 100) { return if open_path($id, $pid, $path, $flags, $mode) ne 'gone' }
  reply($id, $ENOENT);
}

sub open_path {
  my ($id, $pid, $path, $flags, $mode) = @_;
  my $reads = ($flags & 3) != 1;
  my $is_new = $flags & $CREATE && $flags & $NEW;
  my $found = open_at($HERE, $path, $PATH_ONLY | ($is_new || $flags & $NO_FOLLOW ? $NO_FOLLOW : 0));
  if ($found == -1) {
    return create_file($id, $pid, $path, $flags, $mode) if $! == $ENOENT && $flags & $CREATE;
    return $reads ? reply($id, $! + 0) : go_on($id);
  }
  my $answer = open_found($id, $pid, $found, $flags, $mode, $is_new);
  syscall($call{close}, $found);
  return $answer;
}

# Returns 'gone', and answers nothing, if the file lost a name meanwhile.

sub open_found {
  my ($id, $pid, $found, $flags, $mode, $is_new) = @_;
  my $path = readlink(held($found));
  my $reads = ($flags & 3) != 1;
  # Its path is too long to be judged.
  return reply($id, $! + 0) unless defined $path;
  # A link in /proc led this process to itself, which no program may read or change.
  if ($reads && $path =~ s{^/proc/$$(?=/)}{/proc/$pid}) {
    my $other = open_at($HERE, $path, $PATH_ONLY);
    return reply($id, $! + 0) if $other == -1;
    reply_file($id, open_at($HERE, held($other), $flags | $NO_TERMINAL), $flags);
    return syscall($call{close}, $other);
  }
  my $is_served = is_served($path);
  return go_on($id) unless $reads || $is_served;
  return reply($id, $EEXIST) if $is_new;
  my ($type, $device) = (stat held($found))[2, 6];
  $type = ($type // 0) & 0xf000;
  return reply($id, $ELOOP) if $type == 0xa000;
  # A file without a name could get one that is covered.
  return reply($id, $EOPNOTSUPP) if $flags & $TMPFILE && $is_served;
  my $reopened = $flags & ~($CREATE | $NEW | $NO_FOLLOW) | $NO_TERMINAL;
  if ($type == 0x1000) {
    # Waits for the other end of the pipe.
    my $helper = fork;
    return reply($id, $EACCES) unless defined $helper;
    return if $helper;
    reply_file($id, open_at($HERE, held($found), $reopened), $flags);
    kill 'KILL', $$;
  }
  # /dev/tty is another terminal for each process.
  if ($type == 0x2000 && $device == 0x500) {
    my $terminal = find_terminal($pid);
    return defined $terminal ? reply_file($id, open_at($HERE, $terminal, $reopened), $flags) : reply($id, $ENXIO);
  }
  my $is_hidden = $type == 0x8000 && $is_served == 2 && $reads ? is_hidden($found, $path) : 0;
  return 'gone' if $is_hidden == 2;
  if ($is_hidden) {
    # It looks empty, as those that were covered when the program started.
    return reply($id, $EACCES) if $flags & 3 || $flags & $TRUNCATE;
    return reply_file($id, open_at($HERE, '/dev/null', 0), $flags);
  }
  reply_file($id, open_at($HERE, held($found), $reopened, $flags & $TMPFILE ? masked($pid, $mode) : 0), $flags);
}

# The terminal of a process, by the number of its device; the name of a process may contain any character.
sub find_terminal {
  my ($pid) = @_;
  sysopen(my $file, "/proc/$pid/stat", $CLOSE_ON_EXEC) or return undef;
  sysread($file, my $text, 4096);
  my ($number) = ($text // '') =~ /^.*\) \S \d+ \d+ \d+ (\d+)/s or return undef;
  my ($major, $minor) = ($number >> 8 & 0xfff, $number & 0xff | $number >> 12 & 0xfff00);
  return $major == 136 ? "/dev/pts/$minor" : undef;
}

sub create_file {
  my ($id, $pid, $path, $flags, $mode) = @_;
  my ($parent, $real, $name, $is_served) = open_parent($path);
  my $reads = ($flags & 3) != 1;
  my $answer = '';
  if (!defined $parent) { $reads ? reply($id, $path =~ m{/\z} ? $EISDIR : $! + 0) : go_on($id) }
  elsif (!$reads && !$is_served) { go_on($id) }
  else {
    my $file = open_at($parent, $name, $flags | $NEW | $NO_FOLLOW | $NO_TERMINAL, masked($pid, $mode));
    # Created meanwhile: the program would have opened it. A link that leads nowhere is not followed.
    my $found = $file == -1 && $! == $EEXIST && !($flags & $NEW) ? open_at($HERE, $path, $PATH_ONLY) : undef;
    if (!defined $found) { reply_file($id, $file, $flags) }
    elsif ($found == -1) { reply($id, $! + 0) }
    else { $answer = open_found($id, $pid, $found, $flags, $mode, 0); syscall($call{close}, $found) }
  }
  syscall($call{close}, $parent) if defined $parent;
  return $answer;
}

sub answer_mkdir {
  my ($id, $pid, $folder, $address, $mode) = @_;
  my $path = find_path($pid, $folder, read_path($pid, $address));
  my ($parent, undef, $name, $is_served) = open_parent($path);
  if ($is_served) { reply_result($id, syscall($call{mkdirat}, $parent, $name, masked($pid, $mode) + 0)) }
  else { go_on($id) }
  syscall($call{close}, $parent) if defined $parent;
}

# The error for a new name of a file: a hidden one gets no other name, and no folder loses a name by which files in it are hidden.
sub move_error {
  my ($parent, $name, $path, $target) = @_;
  return $EACCES if has_secret_name($path);
  my $found = open_at($parent, $name, $PATH_ONLY | $NO_FOLLOW);
  # The call itself fails.
  return 0 if $found == -1;
  my $error = 0;
  if (-d held($found)) { $error = $path =~ m{(?:^|/)(?:$set{'hidden parents'})\z}is ? $EACCES : is_served($target) != 2 ? $EXDEV : 0 }
  elsif (-f _) { $error = (0, $EACCES, $ENOENT)[is_hidden($found, $path)] }
  syscall($call{close}, $found);
  return $error;
}

sub answer_move {
  my ($id, $pid, $kind, $old_folder, $old_address, $new_folder, $new_address, $flags) = @_;
  my $old = find_path($pid, $old_folder, read_path($pid, $old_address));
  my $new = find_path($pid, $new_folder, read_path($pid, $new_address));
  my ($from, $from_path, $from_name, $from_served) = open_parent($old);
  my $is_too_long = !defined $from && $! == $ENAMETOOLONG;
  my ($to, $to_path, $to_name, $to_served) = open_parent($new);
  $is_too_long ||= !defined $to && $! == $ENAMETOOLONG;
  if ($is_too_long) { reply($id, $ENAMETOOLONG) }
  elsif (!defined $from || !defined $to || !($from_served || $to_served)) { go_on($id) }
  # RENAME_NOREPLACE is the only flag. Following a link goes on in the kernel, which refuses it.
  elsif ($kind eq 'renameat2' && $flags & ~1) { reply($id, $EINVAL) }
  elsif ($kind eq 'linkat' && $flags) { go_on($id) }
  elsif ($from_served == 2 && (my $error = move_error($from, $from_name, "$from_path/$from_name", "$to_path/$to_name"))) { reply($id, $error) }
  else { reply_result($id, syscall($call{$kind}, $from, $from_name, $to, $to_name, $flags + 0)) }
  for my $parent ($from, $to) { syscall($call{close}, $parent) if defined $parent }
}
`;
