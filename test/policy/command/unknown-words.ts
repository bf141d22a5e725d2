/** Lines with names that mean other programs elsewhere: outside of bash, behind a program, or on another system. */
export const OTHER_SHELLS: readonly string[] = [
  "sh -c 'builtin git status'",
  "sh -c 'pushd x; git status'",
  'dash -c "command builtin ls"',
  'env builtin git status',
  'echo x | xargs command ls',
  'timeout 5 exec ls',
  "sh <<'E'\n((evil))\nE\n",
  "watch '((evil)); ls'",
  `sh -c 'eval "(""(evil))"'`,
  'ENV ls',
  'Timeout 5 ls',
  'env.exe ls',
  'tmux new -d evil',
  'screen -dm evil',
];

/** Words from stdin and files that may be options of the program that gets them. */
export const UNKNOWN_WORDS: readonly string[] = [
  "printf '%s\\n' . -exec evil x ';' | xargs find",
  "printf '%s\\n' -exec evil x ';' | xargs find . -name a",
  'xargs -a args find',
  'xargs find < args',
  'xargs -I{} -n1 find . < args',
  'xargs -J % find % < args',
  'cat args | xargs -0 fd',
  'cat args | xargs nice find',
];
