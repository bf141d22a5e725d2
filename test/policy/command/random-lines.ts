/** Random shell lines: every construct, builtin and special variable of bash that could start a program or change which one starts. */

/** Programs that note their start. */
export const PROGRAMS = ['p', 'q', 'r'];

const VARIABLES =
  `PATH PATH PATH BASH_ENV ENV BASH_CMDS BASH_ALIASES PS4 PS0 PS1 PROMPT_COMMAND IFS EXECIGNORE SHELLOPTS BASHOPTS POSIXLY_CORRECT CDPATH HOME
  BASH_ARGV0 BASH_LOADABLES_PATH BASH_XTRACEFD FUNCNEST GLOBIGNORE LC_ALL TEXTDOMAIN SHELL REPLY OPTARG MAPFILE DIRSTACK PWD RANDOM x x y y`.split(
    /\s+/,
  );

const VALUES = [
  'alt', '.', '1', './alt', 'alt:.', '@', "'@ a'", "'$(@)'", "'a[$(@)]'", "'PATH=1'", "'PATH=alt'", '-vPATH', '-pPATH', 'PATH', "'-v a[$(@)]'", '-exec',
  "'-exec @ ;'", '5', '$x', '"$y"', '$(cat code)', '$(cat value)', '$((1+1))', '*', '~', '{1..3}', 'alt/@', '$PWD/alt', '"() { @; }"', 'x', "'`@`'", '-k', '""', '-c', "'-c @'", '-S', '-n1',
]; // prettier-ignore

/** `@` is a program, `%` a word, `#` a command, `&V` a variable, `&D` a value. */
const COMMANDS = [
  // Words and quotes.
  '@ % %', 'X=% @', '@ > o %', 'echo %', '\\@', '"@"', '@\t%', "$'@'", "$'\\x70' %", '@$()', '@""', '""@', '{@,a}', '@{,}', '$x', 'y=@; $y', '${x:-@} %', '$(echo @) %',
  '`echo @`', '<f @', '2>&1 >o @ %', '{fd}>o @', '>(@) echo a', 'echo a > >(@)', '# 2>/dev/null', 'echo a; \\\n@', './@', 'alt/@', 'cd alt; ./@', 'pushd alt; @; popd',
  // Lists and compound commands.
  '#; #', '# && #', '# | #', '# || #', '(#)', '{ #; }', 'if #; then #; else #; fi', 'for i in 1 %; do #; done', 'while #; do #; break; done',
  'case x in %) #;; *) #;; esac', '! #', '# & #', '#\n#', '# # c\n#', '# |& #', 'for ((i=0;i<1;i++)); do #; done', 'until #; do break; done', 'if ((1)); then #; fi',
  'case $(@) in a|b) ;& *) @;; esac', 'select i in a; do @; break; done <<< 1', '[[ a == % ]] && #', '(( 1 + $(@;echo 1) ))', '((x)) || #', '[[ -n % && ! -f % ]] || #',
  '[[ % =~ ^(a|b)+$ ]]', '((@))', '( (@) )', '((@) )', '$((@) )', 'time @', 'time -p @', 'coproc @', 'coproc N { @; }', 'case a in (a) #;; esac', '[[ % < % || ( % > % ) ]]',
  // Here-documents.
  'cat <<E\n%\nE\n', "cat <<'E'\n$(@)\nE\n", 'cat <<-"E"\n\t$(@)\n\tE\n', 'cat <<< %', "bash <<'E'\n@\nE\n", 'bash <<< @', 'cat <<E &&\n$(@)\nE\n#', "cat <<'E' | bash\n@\nE\n",
  "cat <<E; @\n'\nE\n", 'cat <<E\\\nF\n$(@)\nEF\n', 'cat <<"E E"\n$(@)\nE E\n@', 'cat <<E\na\\\nE\n$(@)\nE\n', 'cat <<A <<B\n%\nA\n$(@)\nB\n', 'cat <<E $(#\n)\n%\nE\n', "cat <<\\E\n`@`\nE\n",
  'x=$(cat <<E\n$(@)\nE\n)', '{ cat <<E; }\n%\nE\n#', "sh <<E\n@ $x\nE\n", 'source /dev/stdin <<< @', '. /dev/stdin <<E\n@\nE\n', 'cat <<E > o\n${x:-$(@)}\nE\n',
  // Functions.
  'f() { @; }; f', '@ () { :; }', 'function g { @; }; g', 'function g() (@); g', 'g() if @; then :; fi; g', '@ () { :; }; @', '@() { :; }; unset -f @; @', '@() { :; } & @',
  'for i in 1 2; do @; unset -f @; done', 'command_not_found_handle() { @; }; nonexistent', '@() { :; }; command @', '(@() { :; }); @', 'export -f f', 'f() { local x=%; #; }; f %',
  '@() { :; } <<E\n%\nE\n@', 'if false; then @() { :; }; fi; @', 'cat() { echo "a[$(@)]"; }', 'wc() { cat code; }; x=$(wc -l < code); echo $((x))', 'echo() { @; }; echo',
  // Programs and builtins that run others.
  'env A=b @ %', 'timeout 5 @', "sh -c '@; @ x'", 'bash -c "@"', 'eval @ a', "eval '@ a;@'", 'echo a | xargs @', 'echo a | xargs -I{} @ {}', 'find . -maxdepth 0 -exec @ {} \\;',
  'nice -n 5 @', 'command @', "trap '@' EXIT", 'exec @', 'nohup @', "env -S '@ %'", 'env -i -u X -C . @ %', 'env -i @', 'stdbuf -o0 @', 'ionice -c 3 @', 'flock f @ %', "flock f -c '@'",
  'taskset 1 @', 'prlimit --nofile=64 @', "script -qc '@' /dev/null", `sh -c '"$@"' _ @`, "sh -c '$0' @", "bash -ec '@' %", 'xargs -n1 @ <<< a', "echo @ | xargs -I{} sh -c '{}'",
  "printf '@\\n' | sh", 'find . -maxdepth 0 -execdir @ {} +', "find . -maxdepth 0 -ok @ ';' <<< y", 'builtin eval @', 'builtin command @', 'exec -a name @', 'command -p @',
  "trap '@' DEBUG; echo a", 'trap @ ERR; false', 'mapfile -C @ -c 1 <<< a', "mapfile -C 'eval @;' -c 1 z <<< a", "compgen -C '@' a", 'jobs -x @', 'fc -s', 'env @=b %', 'exec -c @', 'exec -l @',
  "sh -c '((@))'", "sh -c 'function @ { :; }'", "sh -c '[[ a ]] || @'", "bash -kc '@ PATH=alt'", "bash -O expand_aliases -c 'alias r=@\nr'", "bash -xc '@'", "bash -lc '@'", "bash -ic '@'",
  'env -u PATH @', 'x=&D; bash $x', 'x=&D; bash "$x" @', 'x=-c; bash $x @', 'bash $(echo -c @)', 'x=&D; bash -e $x @', 'x=&D; env $x @', 'x=&D; env "$x" @', 'x=&D; timeout $x @', 'x=&D; xargs $x @ <<< a', 'x=&D; nice $x @', "x='5 @'; nice -n $x true", "x='KILL 5 @'; timeout -s $x 5 true", 'x=";"; find . -maxdepth 0 -exec true "$x" -exec @ \\;', 'x=&D; nice -n $x @', 'x=&D; xargs -n $x @ <<< a', 'x=&D; command $x @', 'x=&D; exec $x @',
  "bash -c '#'", "eval '#'", "sh -c '#'", 'busybox sh -c @', 'exec 3<code; @', 'bash -c \'@ "$1"\' _ %', "trap 'x=&D' EXIT", "trap '&V=&D' DEBUG", 'bash --posix -c @', 'bash -o posix -c @',
  "printf '%s\\n' . -maxdepth 0 -exec @ ';' | xargs find", 'xargs -I{} find {} -maxdepth 0 <<< %', 'xargs -n1 -I{} find . {} @ \\; <<< -exec', 'xargs -a value find . -maxdepth 0', 'env builtin @', "sh -c 'builtin @'",
  "sh <<'E'\n((@))\nE\n", 'xargs -n1 echo @ <<< %', "bash -c 'echo %'", "sh -c 'pushd alt; @'", 'xargs -n1 sh -c <<< @', 'xargs timeout <<< "5 @"', 'env true @', `sh -c 'eval "(""(@))"'`, 'find . -maxdepth 0 -exec echo @ {} \\;', 'env command @', 'xargs find . -maxdepth 0 <<< "-exec @ ;"',
  // Ways to set a variable, and to change tables.
  '&V=&D', '&V=&D @', '&V+=&D', 'export &V=&D', 'export &V', 'declare &V=&D', 'declare -x &V=&D', 'declare -n n=&V; n=&D', 'declare -i &V=&D', 'declare -u &V=&D', 'declare -A &V=([@]=&D)', 'typeset &V=&D',
  'readonly &V=&D', 'f() { local &V=&D; @; }; f', 'read &V <<< &D', 'command read &V <<< &D', 'builtin read -r &V <<< &D', 'read -a &V <<< &D', 'read -a&V <<< &D', 'read < value', 'read -r x y < code',
  'printf -v &V &D', 'printf -v&V &D', 'printf -v &V %s &D', 'mapfile -t &V <<< &D', 'readarray &V <<< &D', 'mapfile < code', 'getopts x &V -x', 'getopts x: y -x &D', 'true & wait -n -p &V', 'wait -p&V', 'wait $x',
  'exec {&V}>o', '{&V}>o true', '((&V=1))', '((&V=5, 1))', '((P${x}ATH=1))', 'echo $((PA$(:)TH=1))', 'y[P$x``ATH=1]=2', 'cat <<E\r\n%\nE\r\n@\nE\n', '{ #; }\r', '#\r\n#\r\n', 'let &V=1', 'let "&V = 1"', 'let &V=&D', ': ${&V:=&D}', ': ${&V=&D}', ': "${&V:=&D}"', 'for &V in &D; do :; done', 'for &V in &D; do @; done',
  'select &V in &D; do break; done <<< 1', 'coproc &V { :; }', 'unset &V', 'unset -v &V', 'env &V=&D @', 'env "&V=&D" @', "env -S'&V=&D @' %", '&V[@]=&D', '&V[0]=&D', '&V=([@]=&D)', '&V=(&D %)', 'BASH_CMDS[@]=alt/@',
  'BASH_ALIASES[@]=@', 'hash -p alt/@ @', 'hash -r', 'alias @=@', 'shopt -s expand_aliases', 'shopt -s extglob', 'shopt -s nullglob', 'shopt -u interactive_comments', 'set -k', 'set -o posix', 'set -H', 'set -x', 'set -a', 'set -euo pipefail',
  'set +h', 'set -f', 'set -o &D', 'set $x', 'set -- &D &D', 'set -- @; $1', 'set -- @; "$@"', 'enable -n echo; echo %', 'enable -n test', 'x=&V; printf -v "$x" &D', 'x=&V; read "$x" <<< &D', 'x=&V; export "$x=alt"',
  'x=&V=&D; declare "$x"', 'export $(cat value)', 'export "$@"', 'declare $x', 'x=&V; unset $x', 'x=&V; wait -p "$x"', 'printf $x &D', 'printf "$x" &D', 'printf "$x\\n" %', '@ &V=&D', 'read -p "$x" &V <<< &D',
  'declare {&V,y}=alt', 'read {&V,y} <<< alt', 'export {PATH,x}=alt', 'x+=&D; @', 'declare -p x', 'type @', 'command -v @', 'hash @', 'umask 022', 'ulimit -n', 'times', 'dirs', 'cd $x', 'shift $x', 'return &D', 'exit $x', 'break $x', 'kill -l',
  // Text that the shell evaluates.
  "x=&D; echo $((x))", 'x=&D; ((x))', 'x=&D; ((x++))', 'x=&D; ((y=x))', 'x=&D; let x', 'x=&D; let "y = x + 1"', 'x=&D; [[ $x -eq 1 ]]', 'x=&D; [[ x -eq 1 ]]', 'x=&D; [[ 1 -lt "$x" ]]', 'x=&D; echo ${y[x]}', 'x=&D; echo ${y[$x]}',
  'x=&D; echo ${y:x}', 'x=&D; echo ${y:0:$x}', 'x=&D; y[x]=1', 'x=&D; y[$x]=1', 'x=&D; echo ${!x}', 'x=&D; echo "${x@P}"', 'x=&D; y=$x; z=$y; echo $((z))', 'x=&D; [ $x ]', 'x=&D; [ "$x" ]', 'x=-v; y=&D; [ "$x" "$y" ]',
  'x=&D; [ -n $x ]', 'x=&D; test $x', 'x=&D; [ $x = a ]', 'x=&D; [ -v "$x" ]', 'x=&D; [[ -v $x ]]', 'x=&D; test -v $x', "[ -v 'a[$(@)]' ]", "[[ -v 'a[$(@)]' ]]", "[[ -v a[$(@)] ]]", "[[ 'a[$(@)]' -eq 1 ]]", "printf -v 'a[$(@)]' x",
  "unset 'a[$(@)]'", "read 'a[$(@)]' <<< 1", "let 'a[$(@)]=1'", "declare 'a[$(@)]=1'", "declare -i n='a[$(@)]'", "declare -n r='a[$(@)]'; echo $r", "echo $((a[$(@)]))", "echo $(( 'a[$(@)]' ))", 'echo $(( "x" ))', 'echo $[ x ]', 'echo "$[$(@)]"',
  "x=&D; for ((i=x;i<1;i++)); do :; done", "x=&D; a=([x]=1)", "x=&D; f() { echo $((x)); }; f", "f() { echo $(($1)); }; f &D", "x=&D; bash -c 'echo $((x))'", "export x=&D; bash -c '((x))'", "x=&D bash -c '((x))'", "env x=&D bash -c '((x))'",
  "bash -c '(($1))' _ &D", "eval 'x=&D'; ((x))", 'x=$(cat code); echo $((x+1))', 'x=$(wc -l < code); echo $((x+1))', 'x=$(grep -c a code value); echo $((x))', 'read x < code; echo $((x))', 'while read x; do ((x)); done < code', 'mapfile -t x < code; ((x))',
  'for x in $(cat code); do echo $((x)); done', "cd 'a[$(@)]'; echo $((PWD))", '((REPLY))', '((_))', '[[ a[\\$(@)] -eq 1 ]]', "x=&D; printf '%d' \"$x\"", 'x=&D; ulimit -n $x', 'x=&D; shift $x', 'x=&D; find . -maxdepth 0 $x', 'x=&D; find "$x" @ \\;', 'x=&D; find . "$x" @ \\;',
  "x=&D; set -x; echo a", "PS4='$(@)'; set -x; echo a", "PS4='$(@)' bash -xc :", "BASH_ENV=code bash -c :", "ENV=code sh -c :", "ENV=code sh -ic :", 'IFS=x; y=@xa; $y', "x='@'; eval $x", 'eval "$(cat code)"', 'eval echo &D', 'x=&D; y=${x:-$(@)}',
  "history -s @; fc -s", 'set -o history; echo a\n!@', 'history -c', "bind -x '\"a\": @'", 'complete -C @ a', "compgen -W '$(@)'", 'suspend -x', 'caller 0', 'echo ${x@A}', 'echo ${x:?$(@)}', 'echo ${#x[@]} ${!x[@]}', 'echo ${!x*}', 'i=0; ((i++)); y[i]=&D; echo ${y[i]}',
]; // prettier-ignore

const WORDS = [
  'a', '"b c"', "'d e'", '$x', '"$x"', '$(#)', '"$(#)"', '`@`', '<(#)', '${x:-$(#)}', '${x:-"`@`"}', '$((1+$(@;echo 1)))', '*', '{a,b}', '{a,$(@)}', "$'\\'; @ #'", "'; @ #'", '"\\"; @ #"', '\\;', '~',
  '"${x#$(@)}"', '${x/$(@)/b}', '# @', 'a#b', `"'$(@)'"`, `'"'$(@)'"'`, '\\$(', '$\\(', '${#x}', '$"a $(@)"', '"`@ \\"x\\"`"', "'a'\\''b'", '$[1+1]', '${x@Q}', '\\\n@', '!', '{', '}', '=', '[', ']]', '@(a|b)', '&D', '&D', '"${x:-\'$(@)\'}"',
  "${x:-'$(@)'}", '"${x:-"$(@)"}"', '${x:-<(@)}', '${x%%}$(@)}', '"${x//\'/$(@)}"', '[$(@)]', '[a"]"$(@)]', 'a[1]=$(@)', '{a,\'$(@)\'}', '"$((1+`@`))"', '$(( (1) ))', '$( (@) )', '$(case a in a) @;; esac)', '$(# c )\n@)', '"$(echo ")$(@)")"', '${x:1:$((1))}', '-k', '&V=&D',
]; // prettier-ignore

const SIGNS = ["'", '"', '`', '$', '(', ')', '\\', '\n', ';', '{', '}', '#', '<', '>', '&', '|', ' ', '=', '[', ']', '!', '<<E', '\r', '\u00a0', '((', '$(', '\\\n', '@(', ';;', '=(' ]; // prettier-ignore

/** Numbers from 0 up to 1, the same for the same seed. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** One line: up to three statements, of which the last often starts a program; one in three lines has a mistake. */
export function randomLine(next: () => number): string {
  const choose = (list: readonly string[]): string => list[Math.floor(next() * list.length)] ?? '';
  const fill = (template: string, depth: number): string =>
    template.replaceAll(/&V|&D|[@%]|#(?! |')(?=$|[; )}&|\n])/g, (sign) => {
      if (sign === '&V') return choose(VARIABLES);
      if (sign === '&D') return fill(choose(VALUES), depth - 1);
      if (sign === '@' || depth <= 0) return choose(PROGRAMS);
      return fill(choose(sign === '%' ? WORDS : COMMANDS), depth - 1);
    });
  const statements = Array.from({ length: 1 + Math.floor(next() ** 2 * 3) }, () => fill('#', 3));
  const line = [...statements, ...(next() < 0.6 ? [choose(PROGRAMS)] : [])].join(choose(['; ', '\n', ' && ', '\n']));
  if (next() > 0.33) return line;
  const at = Math.floor(next() * (line.length + 1));
  const sign = choose(['', ...SIGNS]);
  return line.slice(0, at) + sign + line.slice(at + (sign === '' ? 1 : 0));
}
