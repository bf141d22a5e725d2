/** The part of the broker that decides whether an open file is hidden: the names of `HiddenNames` in perl. */
export const HIDDEN_NAMES_SCRIPT = String.raw`
my (%second_names, %hidden_folders);
# Files that were secret at the start, with the time when they were created.
my %secret_files = map { /^(\d+:\d+):(-?\d+)\z/ ? ($1 => $2) : () } split / /, $set{'secret files'};
my $hidden_names = qr{(?:^|/)(?:$set{'hidden names'})\z}is;
my $hidden_pairs = qr{^(?:$set{'hidden pairs'})\z}is;
my $always_hidden = qr{(?:^|/)(?:$set{'always hidden'})\z}is;

# Whether the name of a file or of a folder around it hides it.
sub has_secret_name {
  my ($path) = @_;
  for my $folder (@covered) {
    next unless index($path, "$folder/") == 0;
    my $below = substr($path, length($folder) + 1);
    return 1 if is_secret_below($below, 0);
    # The mounted folder itself may be the one that a name is in.
    my ($name, $first) = ($folder =~ m{([^/]*)\z}, $below =~ m{^([^/]*)});
    return fold_name("$name/$first") =~ $hidden_pairs && $below !~ m{$set{'shown names'}}is;
  }
  return 0;
}

sub is_secret_below {
  my ($path, $is_folder) = @_;
  return $hidden_folders{$path} if $is_folder && defined $hidden_folders{$path};
  my $is_secret = $path =~ m{^(.*)/[^/]*\z}s && is_secret_below($1, 1) || matches_secret($path) ? 1 : 0;
  return $is_secret unless $is_folder;
  %hidden_folders = () if keys %hidden_folders > 10_000;
  return $hidden_folders{$path} = $is_secret;
}

sub fold_name {
  my ($name) = @_;
  if ($name =~ /[^\x20-\x7e]/ && utf8::decode($name)) {
    # As other file systems compare names: without width and invisible characters; the expression compares without case.
    $name =~ s/([\x{ff01}-\x{ff5e}])/chr(ord($1) - 0xfee0)/ge;
    $name =~ s/[\x{ad}\x{34f}\x{61c}\x{115f}\x{1160}\x{17b4}\x{17b5}\x{180b}-\x{180f}\x{200b}-\x{200f}\x{202a}-\x{202e}]//g;
    $name =~ s/[\x{2060}-\x{206f}\x{3164}\x{fe00}-\x{fe0f}\x{feff}\x{ffa0}\x{e0000}-\x{e0fff}]//g;
    $name =~ s/\x{2024}/./g;
  }
  $name =~ s{(?<=[^/. ])[. ]+(?=/|\z)}{}g if $name =~ m{[. ](?:/|\z)};
  return $name;
}

sub matches_secret {
  my $name = fold_name($_[0]);
  # No pattern names more than a folder and a file; what is in a hidden folder is hidden by it.
  my ($end) = $name =~ m{((?:[^/]*/)?[^/]*)\z};
  return 1 if $end =~ $always_hidden;
  return $end =~ $hidden_names && $name !~ m{$set{'shown names'}}is;
}

# 1 if an open file is hidden: by its name, as one that was secret at the start, by another name of it, or by what is in it. 2 if it lost a name meanwhile, so that nothing is known.
sub is_hidden {
  my ($descriptor, $path) = @_;
  (my $last = $path) =~ s/ \(deleted\)\z//;
  return 1 if has_secret_name($path) || has_secret_name($last);
  my ($device, $inode, $links, $size, $changed) = (stat held($descriptor))[0, 1, 3, 7, 10];
  return 1 if defined $secret_files{"$device:$inode"} && was_created($descriptor, $secret_files{"$device:$inode"});
  # Read after the count of names: one that was removed meanwhile may have been the one that hides it.
  return 2 if $links == 0 || (readlink(held($descriptor)) // '') ne $path;
  if ($links > 1) {
    return 1 if has_secret_second_name($device, $inode, $links, $changed);
    return 2 if (stat held($descriptor))[3] < $links;
  }
  return 0 unless $path =~ m{$set{'document names'}}is && $size < 65536;
  my $file = open_at($HERE, held($descriptor), 0);
  return 0 if $file == -1;
  my $text = "\0" x 65536;
  my $count = syscall($call{pread64}, $file, $text, 65536, 0);
  syscall($call{close}, $file);
  return substr($text, 0, $count < 0 ? 0 : $count) =~ m{$set{'secret documents'}}s;
}

# Whether a file was created at that time, in nanoseconds. An inode is used again when its file is gone.
sub was_created {
  my ($descriptor, $time) = @_;
  my ($status, $empty) = ("\0" x 256, "\0");
  # AT_EMPTY_PATH and STATX_BTIME.
  return 1 if syscall($call{statx}, $descriptor, $empty, 0x1000, 0x800, $status) == -1;
  my ($seconds, $nanoseconds) = unpack 'x80 q L', $status;
  return $seconds * 1_000_000_000 + $nanoseconds == $time;
}

# Searches the covered folders for a name of a file that hides it. A new name changes the time, by which answers are remembered.
sub has_secret_second_name {
  my ($device, $inode, $links, $changed) = @_;
  my $key = "$device:$inode:$links:$changed";
  return $second_names{$key} if defined $second_names{$key};
  my ($left, @waiting) = (200_000, @covered);
  # The time counts seconds: what changed in this one may change again.
  my $is_old = $changed < time - 1;
  while (defined(my $folder = shift @waiting)) {
    opendir(my $entries, $folder) or next;
    for my $name (readdir $entries) {
      next if $name eq '.' || $name eq '..';
      return 1 if --$left < 0;
      my $path = "$folder/$name";
      my ($found_device, $found, $mode) = (lstat $path)[0 .. 2] or next;
      if (($mode & 0xf000) == 0x4000) { push @waiting, $path unless grep { $_ eq $path } @free }
      elsif ($found == $inode && $found_device == $device && has_secret_name($path)) {
        $second_names{$key} = 1 if $is_old;
        return 1;
      }
    }
  }
  $second_names{$key} = 0 if $is_old;
  return 0;
}
`;
