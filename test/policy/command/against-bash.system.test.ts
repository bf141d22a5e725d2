/** Random lines are run by bash; no program may start that the parsed line does not name. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect } from 'vitest';

import { readCommandLine } from '../../../src/policy/command/command-line.ts';
import { isTransparent, listPrograms } from '../../../src/policy/command/command-pattern.ts';
import { runs } from '../../property-runs.ts';
import { verifies } from '../../conformance/verifies.ts';
import { needs } from '../../needs.ts';

const BASH = ['/bin/bash', '/usr/bin/bash'].find((file) => existsSync(file));
const OURS = ['p', 'q', 'r'];
const SYSTEM =
  'env xargs find sh bash timeout nice nohup setsid cat true stdbuf ionice flock chrt taskset prlimit unshare setarch script'.split(
    ' ',
  );

/** `@` is a program, `%` a word, `#` a command. */
const COMMANDS = [
  '@ % %',
  'X=% @',
  '@ > o %',
  'echo %',
  'env A=b @ %',
  'timeout 5 @',
  "sh -c '@; @ x'",
  'bash -c "@"',
  'eval @ a',
  "eval '@ a;@'",
  'echo a | xargs @',
  'echo a | xargs -I{} @ {}',
  'find . -maxdepth 0 -exec @ {} \\;',
  'nice -n 5 @',
  'command @',
  '\\@',
  '"@"',
  "trap '@' EXIT",
  '[[ a == % ]]',
  '(( 1 + $(@;echo 1) ))',
  'x=%',
  'declare y=%',
  'a=(% %)',
  'exec @',
  'nohup @',
  'time @',
  'coproc @',
  'cat <<E\n%\nE\n',
  "cat <<'E'\n$(@)\nE\n",
  'cat <<-"E"\n\t$(@)\n\tE\n',
  'cat <<< %',
  "bash <<'E'\n@\nE\n",
  'bash <<< @',
  'f() { @; }; f',
  '@ () { :; }',
  "x='a[$(@)]'; echo $((x))",
  '$x',
  'y=@; $y',
  "printf -v 'a[$(@)]' x",
  "unset 'a[$(@)]'",
  "test -v 'a[$(@)]'",
  '#; #',
  '# && #',
  '# | #',
  '# || #',
  '(#)',
  '{ #; }',
  'if #; then #; else #; fi',
  'for i in 1 %; do #; done',
  'while #; do #; break; done',
  'case x in %) #;; *) #;; esac',
  '! #',
  '# & #',
  '#\n#',
  '# # c\n#',
  '# |& #',
  'for ((i=0;i<1;i++)); do #; done',
  'until #; do break; done',
  "env -S '@ %'",
  'env -i -u X -C . @ %',
  'stdbuf -o0 @',
  'ionice -c 3 @',
  'flock f @ %',
  "flock f -c '@'",
  'taskset 1 @',
  'prlimit --nofile=64 @',
  "script -qc '@' /dev/null",
  `sh -c '"$@"' _ @`,
  "sh -c '$0' @",
  "bash -ec '@' %",
  'xargs -n1 @ <<< a',
  "echo @ | xargs -I{} sh -c '{}'",
  "printf '@\\n' | sh",
  'find . -maxdepth 0 -execdir @ {} +',
  "find . -maxdepth 0 -ok @ ';' <<< y",
  'source /dev/stdin <<< @',
  '. /dev/stdin <<E\n@\nE\n',
  'shopt -s expand_aliases\nalias a=@\na',
  'hash -p "$PATH/@" cat; cat',
  'command_not_found_handle() { @; }; nonexistent',
  "trap '@' DEBUG; echo a",
  'trap @ ERR; false',
  'mapfile -C @ -c 1 <<< a',
  "mapfile -C 'eval @;' -c 1 z <<< a",
  "compgen -C '@' a",
  'builtin eval @',
  'builtin command @',
  'exec -a name @',
  'command -p @',
  'enable -n echo; echo %',
  'coproc N { @; }',
  "let 'a[$(@)]=1'",
  "declare 'a[$(@)]=1'",
  "declare -i n='a[$(@)]'",
  "declare -n r='a[$(@)]'; echo $r",
  "read 'a[$(@)]' <<< 1",
  "[[ 'a[$(@)]' -eq 1 ]]",
  "[ -v 'a[$(@)]' ]",
  'x=\'$(@)\'; echo "${x@P}"',
  "x='a[$(@)]'; echo ${y[x]}",
  "x='a[$(@)]'; echo ${y:x}",
  "PS4='$(@)'; set -x; echo a",
  "BASH_ENV=/dev/stdin bash -c : <<< '@'",
  'ENV=f sh -c :',
  "x='@'; eval $x",
  'set -- @; $1',
  'set -- @; "$@"',
  'IFS=x; y=@xa; $y',
  '${x:-@} %',
  '$(echo @) %',
  '`echo @`',
  '{@,a}',
  '@{,}',
  '@\t%',
  "$'@'",
  "$'\\x70' %",
  '@$()',
  '@""',
  '""@',
  '<f @',
  '2>&1 >o @ %',
  '{fd}>o @',
  'a=(x $(@)); b+=@ @',
  '>(@) echo a',
  'echo a > >(@)',
  'function g { @; }; g',
  'function g() (@); g',
  'g() if @; then :; fi; g',
  'time -p @',
  'select i in a; do @; break; done <<< 1',
  'case $(@) in a|b) ;& *) @;; esac',
  'if ((1)); then #; fi',
  'cat <<E &&\n$(@)\nE\n#',
  "cat <<'E' | bash\n@\nE\n",
  "cat <<E; @\n'\nE\n",
  'cat <<E\\\nF\n$(@)\nEF\n',
  'cat <<"E E"\n$(@)\nE E\n@',
  '# 2>/dev/null',
  'echo a; \\\n@',
];
const WORDS = [
  'a',
  '"b c"',
  "'d e'",
  '$x',
  '"$x"',
  '$(#)',
  '"$(#)"',
  '`@`',
  '<(#)',
  '${x:-$(#)}',
  '${x:-"`@`"}',
  '$((1+$(@;echo 1)))',
  '*',
  '{a,b}',
  '{a,$(@)}',
  "$'\\'; @ #'",
  "'; @ #'",
  '"\\"; @ #"',
  '\\;',
  '~',
  '"${x#$(@)}"',
  '${x/$(@)/b}',
  '# @',
  'a#b',
  `"'$(@)'"`,
  `'"'$(@)'"'`,
  '\\$(',
  '$\\(',
  '${#x}',
  '$"a $(@)"',
  '"`@ \\"x\\"`"',
  "'a'\\''b'",
  '$[1+1]',
  '${x@Q}',
  '\\\n@',
  '!',
  '{',
  '}',
  '=',
  '[',
  ']]',
  '@(a|b)',
];
const SIGNS = [
  "'",
  '"',
  '`',
  '$',
  '(',
  ')',
  '\\',
  '\n',
  ';',
  '{',
  '}',
  '#',
  '<',
  '>',
  '&',
  '|',
  ' ',
  '=',
  '[',
  ']',
  '!',
  '<<E',
  '\r',
  '\u00a0',
];

/** Fills the templates by numbers, each of which chooses one of the alternatives. */
function lineOf(numbers: readonly number[]): string {
  let next = 0;
  const choose = <T>(list: readonly T[]): T | undefined => {
    next += 1;
    return list[(numbers[next % numbers.length] ?? 0) % list.length];
  };
  const fill = (template: string, depth: number): string =>
    template.replaceAll(/[@%]|#(?! |')(?=$|[; )}&|\n])/g, (sign) => {
      if (sign === '@' || depth <= 0) return choose(OURS) ?? '';
      return fill(choose(sign === '%' ? WORDS : COMMANDS) ?? '', depth - 1);
    });
  return fill('#', 3);
}

describe('against a real bash', needs('bash'), () => {
  const root = mkdtempSync(path.join(tmpdir(), 'against-bash-'));
  const [bin, work, log] = ['bin', 'work', 'log'].map((name) => path.join(root, name)) as [string, string, string];

  beforeAll(() => {
    for (const folder of [bin, work]) mkdirSync(folder);
    for (const name of OURS) {
      // `bash p` reads the file as a script of bash, which is the program then; only its first line sets -u.
      const noted = `case $- in *u*) echo ${name} >>"$STARTED";; esac`;
      writeFileSync(path.join(bin, name), `#!/bin/sh -u\n${noted}\necho out\n`);
      chmodSync(path.join(bin, name), 0o755);
    }
    for (const name of SYSTEM) {
      const file = ['/usr/bin', '/bin'].map((folder) => path.join(folder, name)).find((each) => existsSync(each));
      if (file !== undefined) symlinkSync(file, path.join(bin, name));
    }
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  let count = 0;
  function started(line: string): readonly string[] {
    count += 1;
    const file = `${log}${String(count)}`;
    spawnSync('timeout', ['-k', '1', '5', BASH ?? '', '--noprofile', '--norc', '-c', line], {
      cwd: work,
      env: { PATH: bin, HOME: work, LC_ALL: 'C.UTF-8', STARTED: file },
      input: '',
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    // A program in the background may have opened the file and not written yet.
    return existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .filter((name) => name !== '')
      : [];
  }

  verifies('POL-6', 'no program starts that the parsed line does not name', () => {
    const numbers = fc.array(fc.nat(9999), { minLength: 12, maxLength: 30 });
    const mutation = fc.option(fc.record({ at: fc.nat(200), sign: fc.constantFrom('', ...SIGNS) }));
    let known = 0;
    fc.assert(
      fc.property(numbers, mutation, (chosen, change) => {
        const whole = lineOf(chosen);
        const at = change === null ? 0 : change.at % (whole.length + 1);
        const line =
          change === null ? whole : whole.slice(0, at) + change.sign + whole.slice(at + (change.sign === '' ? 1 : 0));
        const read = readCommandLine(line);
        if (!isTransparent(read)) return;
        known += 1;
        const names = new Set(listPrograms(read).map((name) => path.basename(name)));
        const others = started(line).filter((name) => !names.has(name));
        expect({ line, others }).toEqual({ line, others: [] });
      }),
      { numRuns: runs(500, 125) },
    );
    expect(known).toBeGreaterThan(40);
  });
});
