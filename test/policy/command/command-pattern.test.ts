import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { readCommandLine } from '../../../src/policy/command/command-line.ts';
import { matchesLine } from '../../../src/policy/command/command-match.ts';
import {
  firstUncovered,
  listPrograms,
  readCommandPattern,
  type CommandPattern,
} from '../../../src/policy/command/command-pattern.ts';

function pattern(text: string): CommandPattern {
  const read = readCommandPattern(text);
  if ('problem' in read) throw new Error(read.problem);
  return read;
}

function isCovered(rule: string, text: string, options = {}): boolean {
  const line = readCommandLine(text);
  return line.type === 'commands' && firstUncovered([pattern(rule)], line.commands, options) === undefined;
}

const meaning = (rule: string, text: string) => matchesLine(pattern(rule), readCommandLine(text));

describe('a pattern for commands', () => {
  it.each<[string, Omit<CommandPattern, 'text'>]>([
    ['git status', { words: [['git'], ['status']], rest: 'none' }],
    ['git:*', { words: [['git']], rest: 'any' }],
    ['git commit :*', { words: [['git'], ['commit']], rest: 'any' }],
    ['git add *', { words: [['git'], ['add']], rest: 'some' }],
    ['cat docs/*.md', { words: [['cat'], ['docs/', '.md']], rest: 'none' }],
    [`grep "a b" 'c*' \\*`, { words: [['grep'], ['a b'], ['c*'], ['*']], rest: 'none' }],
    ['*', { words: [], rest: 'any' }],
    ['', { words: [], rest: 'any' }],
    [':*', { words: [], rest: 'any' }],
    ['  ls  ', { words: [['ls']], rest: 'none' }],
  ])('%j is understood', (text, expected) => {
    expect(readCommandPattern(text)).toEqual({ text, ...expected });
  });

  it.each([
    ['git status && rm', 'shell operators'],
    ['cat $HOME/x', 'shell operators'],
    ['a > b', 'shell operators'],
    ['a `b`', 'shell operators'],
    ["a 'b", 'unclosed quote or a trailing backslash'],
    ['a b\\', 'unclosed quote or a trailing backslash'],
    ['a\nb', 'line ends'],
    ['a\u200bb', 'invisible characters'],
    ['a'.repeat(1001), 'longer than 1000'],
  ])('%j is none', (text, problem) => {
    const read = readCommandPattern(text);
    expect('problem' in read ? read.problem : read).toContain(problem);
  });
});

describe('a rule that allows', () => {
  it.each([
    ['git status', 'git status'],
    ['git:*', 'git'],
    ['git:*', 'git -c core.pager=sh log'],
    ['git:*', '/usr/bin/git status'],
    ['git:*', 'git add *.py "$FILE" $(git ls-files)'],
    ['git:*', 'FOO=1 git log > out.txt 2>&1; echo $?'],
    ['git:*', 'for b in a b; do git log "$b"; done'],
    ['git add *', 'git add a'],
    ['git add *', 'git add -- a b'],
    ['cat docs/*.md', 'cat docs/a/b.md'],
    ['cat docs/*', 'cat docs/*.md'],
    ['npm run *:unit', 'npm run test:unit'],
    ['npm run test:*', 'npm run test:unit'],
    ['npm run test:*', 'npm run test:unit:fast -- -w'],
    ['python:*', 'python3 -c x'],
    ['python:*', 'python3.12 x.py'],
    ['python3:*', 'python3.12 x.py'],
    ['node:*', 'nodejs x.js'],
    ['pip install:*', 'pip3 install x'],
    ['source:*', '. ./x.sh'],
    ['./scripts/*:*', './scripts/y.sh a'],
    ['bash:*', 'bash x.sh'],
    ['bash -c rm', 'bash -c rm'],
    ['strace ls', 'strace ls'],
    ['git status:*', 'timeout 5 git status'],
    ['git status:*', 'nice -n 5 nohup git status -s'],
    ['git status:*', 'env A=b git status'],
    ['git status:*', 'sudo -u x git status'],
    ['git status:*', "sh -ec 'git status; git status -s'"],
    ['git status:*', "eval 'git status'"],
    ['cat:*', 'xargs cat'],
    ['cat:*', 'xargs -0 -I% -n 1 cat a%'],
    ['find:*', 'find . -name *.py -delete'],
    ['cat:*', 'f() { cat "$1"; }; f a; f b'],
    ['cat:*', 'cat <<E\n$x $((1 + 2)) ${y:-z}\nE'],
    ['git:*', 'echo a'],
    ['git:*', '[ -f x ]'],
  ])('%j covers %j', (rule, text) => {
    expect(isCovered(rule, text)).toBe(true);
  });

  it.each([
    ['git status', 'git status -s'],
    ['git:*', 'gitk'],
    ['git commit:*', 'git commit-tree'],
    ['git add *', 'git add'],
    ['git add:*', 'git'],
    ['git:*', './git status'],
    ['git:*', '/tmp/git status'],
    ['git:*', '/usr/bin/../../tmp/git status'],
    ['git:*', 'Git status'],
    ['git:*', 'git2 status'],
    ['git:*', 'echo a; ls'],
    ['git status:*', 'git $X'],
    ['python3:*', 'python x'],
    ['py*:*', './python3 x'],
    ['npm run test:*', 'npm run testing'],
    ['npm run test', 'npm run test:unit'],
    ['./scripts/*:*', './scripts/../x.sh'],
    ['./x.sh', 'x.sh'],
    ['cat docs/*', 'cat docs/../x'],
    ['cat docs/*', 'cat docs/{a,b}'],
    ['cat docs/* x', 'cat docs/* x'],
    ['cat x', 'cat [x]'],
    ['ls:*', './env ls'],
    ['find:*', 'find . -exec rm {} +'],
    ['bash:*', 'bash -c rm'],
    ['git:*', "bash -c 'id'"],
    ['git:*', 'timeout 5 id a'],
    ['git:*', 'exec id a'],
    ['strace:*', 'strace ls'],
    ['cat:*', 'f() { cat x; }; unset -f f; f'],
  ])('%j does not cover %j', (rule, text) => {
    expect(isCovered(rule, text)).toBe(false);
  });

  it('counts without isolation only if it spells out the whole command', () => {
    const isUnisolated = true;
    expect(isCovered('git status', 'git status', { isUnisolated })).toBe(true);
    expect(isCovered('git status', 'git status; git status', { isUnisolated })).toBe(true);
    expect(isCovered('git status:*', 'git status', { isUnisolated })).toBe(false);
    expect(isCovered('git status', 'git status; echo a', { isUnisolated })).toBe(false);
    expect(isCovered('git status', 'timeout 5 git status', { isUnisolated })).toBe(false);
  });

  it('judges a line as a whole: after cd only rules without relative paths count', () => {
    const uncovered = (text: string) => {
      const line = readCommandLine(text);
      const rules = ['cd:*', 'git status:*', './x.sh', 'python3 scripts/a.py:*', '/opt/y.sh:*'].map(pattern);
      if (line.type === 'unclear') return line.reason;
      const missed = firstUncovered(rules, line.commands);
      return typeof missed === 'object' ? missed.words.map((word) => word.text) : missed;
    };
    expect(uncovered('./x.sh && python3 scripts/a.py b && cd c && git status')).toBeUndefined();
    expect(uncovered('cd c && /opt/y.sh')).toBeUndefined();
    expect(uncovered('cd c && git status && ./x.sh')).toEqual(['./x.sh']);
    expect(uncovered('command cd c; python3 scripts/a.py')).toEqual(['python3', 'scripts/a.py']);
    expect(uncovered('git status | rm x')).toEqual(['rm', 'x']);
  });

  const plainWord = fc.stringMatching(/^[a-z0-9][a-z0-9_.]{0,8}$/);

  it('covers what it spells out, word for word, and nothing longer', () => {
    fc.assert(
      fc.property(fc.array(plainWord, { minLength: 1, maxLength: 5 }), plainWord, (words, more) => {
        const text = ['prog', ...words].join(' ');
        expect(isCovered(text, text)).toBe(true);
        expect(isCovered(`${text}:*`, `${text} ${more}`)).toBe(true);
        expect(isCovered(text, `${text} ${more}`)).toBe(false);
        expect(isCovered(`${text} *`, text)).toBe(false);
      }),
    );
  });

  it('never covers a program of another name, whatever follows', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), (rest) => {
        const line = readCommandLine(`evil ${rest}`);
        if (line.type === 'unclear') return;
        expect(firstUncovered([pattern('git:*')], line.commands)).toBeDefined();
      }),
    );
  });

  it('what it denies it means: a covered command is always meant', () => {
    const words = fc.array(fc.constantFrom('-a', '--b', 'c', '-x=1', 'd/e', '-', '--'), { maxLength: 5 });
    fc.assert(
      fc.property(fc.constantFrom('git', 'cp', 'sort', 'tar', 'npm'), words, words, (program, own, more) => {
        const rule = [program, ...own].join(' ');
        const text = [rule, ...more].join(' ');
        if (isCovered(`${rule}:*`, text)) expect(meaning(`${rule}:*`, text)).toBe('yes');
      }),
    );
  });
});

describe('a rule that denies', () => {
  it.each([
    ['rm:*', 'rm x', 'yes'],
    ['rm:*', 'nice rm x', 'yes'],
    ['rm:*', 'ls; sh -c "rm x"', 'yes'],
    ['rm -rf:*', 'rm -f -r x', 'yes'],
    ['rm -rf:*', 'rm x -fr', 'yes'],
    ['rm -rf:*', 'rm -r x', 'no'],
    ['git push --force:*', 'git push origin --force', 'yes'],
    ['git push --force:*', 'git push --forc', 'yes'],
    ['git push --force:*', 'git push origin', 'no'],
    ['git push', 'git push', 'yes'],
    ['git push', 'git push origin', 'no'],
    ['git push:*', 'git log push', 'no'],
    ['git push *', 'git push', 'yes'],
    ['git push *', 'git push origin', 'yes'],
    ['git push *', 'git -C x push', 'yes'],
    ['git push *', 'git pull', 'no'],
    ['rm:*', 'PATH=./bin rm x', 'yes'],
    ['rm:*', 'PATH=./bin ls', 'unclear'],
    ['rm:*', 'rm x; PATH=./bin ls', 'yes'],
    ['git push:*', 'git -C x --no-pager push', 'yes'],
    ['/bin/rm:*', 'rm x', 'yes'],
    ['rm:*', 'grep rm x', 'no'],
    ['rm:*', 'xargs grep rm', 'no'],
    ['rm:*', 'python3 x.py', 'no'],
    ['rm:*', 'bash x.sh', 'no'],
    ['rm:*', 'npx prettier x', 'no'],
    ['rm:*', 'docker exec box ls', 'no'],
    ['rm:*', 'sudo ls', 'no'],
    ['rm:*', 'less x', 'no'],
    ['rm:*', 'find . -name x -delete', 'no'],
    ['rm:*', 'sort -o x y', 'no'],
    ['rm:*', 'docker rm box', 'no'],
    ['rm:*', 'docker exec box rm x', 'yes'],
    ['rm:*', 'ssh host "ls; rm x"', 'yes'],
    ['rm:*', 'git commit -m "rm old files"', 'no'],
    ['rm:*', 'git submodule foreach "rm x"', 'yes'],
    ['rm:*', 'python3 -c x', 'no'],
    ['rm:*', 'ls $(x)', 'no'],
    ['rm:*', 'ls $(rm x)', 'yes'],
    ['rm:*', 'X=rm; $X y', 'unclear'],
    ['rm:*', 'git -c a=b log', 'no'],
    ['rm:*', 'socat - EXEC:x', 'unclear'],
    ['rm:*', 'echo x | bash', 'unclear'],
    ['rm:*', 'env X=1 ls', 'no'],
    ['rm:*', 'env X=1 rm x', 'yes'],
    ['rm:*', 'f() { rm x; }; f', 'yes'],
    ['rm:*', 'ls "', 'unclear'],
    ['rm -rf:*', 'rm $FLAGS x', 'unclear'],
    ['rm -rf:*', 'rm "$x"', 'unclear'],
    ['rm -rf:*', 'rm *.txt', 'no'],
    ['git push:*', 'git $X', 'unclear'],
    ['git push:*', 'git log "$x"', 'no'],
    ['python:*', 'python3.12 x', 'yes'],
    ['npm run test:*', 'npm run test:unit', 'yes'],
    ['rm:*', 'ls; $X; rm y', 'yes'],
    ['*', 'ls $(x)', 'yes'],
    ['*', 'ls', 'yes'],
  ] as const)('%j for %j: %s', (rule, text, expected) => {
    expect(meaning(rule, text)).toBe(expected);
  });

  it.each([
    '$(',
    '"$(',
    '${x:-',
    '$((',
    '$[',
    '((',
    '(',
    '{ ',
    '{',
    '{a,',
    '[',
    'a[',
    '@(',
    '[[ ( ',
    '[[ ! ',
    '<(',
    '`',
    '\\`',
    '<<E ',
    '<<E\n',
    '"',
    "'",
    "$'",
    'if a; then ',
    'case x in a) ',
    'while a; do ',
    'f() ',
    'function f ',
    'coproc ',
    'time ',
    '! ',
    '| ',
    '&& ',
    'x=',
    'a=(',
    'x=$y;',
    '((i++));',
    '\\\n',
    '#',
    'a ',
    'a;',
    '$x',
    '$x ',
    'a[1]=2 ',
    'cat <<E\na\nE\n',
    'sh -c a;',
    "eval 'a';",
    'npx a ',
    'npx "a b" ',
    'find -exec a \\; ',
    'f() { a; };',
    '\u00e9',
    '-',
  ])('has an end for 120,000 characters of %j', (piece) => {
    const text = `ls ${piece.repeat(Math.floor(120_000 / piece.length))}`;
    expect(['no', 'unclear']).toContain(meaning('rm:*', text));
  });

  it('has an end for lines that nest for long', () => {
    for (const piece of ['nice ', 'sudo ', 'find -exec ', 'env X=1 ', 'sh -c ', 'xargs ', 'parallel ']) {
      const text = `${piece.repeat(Math.floor(15_000 / piece.length))}ls`;
      expect(['yes', 'no', 'unclear']).toContain(meaning('rm:*', text));
      expect(isCovered('rm:*', text)).toBe(false);
    }
  });
});

describe('the programs of a line', () => {
  it.each<[string, readonly string[]]>([
    ['git log | head -5', ['git', 'head']],
    ['git add x && git commit -m y', ['git']],
    ['/usr/bin/git log; ./x', ['git', './x']],
    ['timeout 5 nice make', ['timeout', 'nice', 'make']],
    ['a $(b | c); (d)', ['a', 'b', 'c', 'd']],
    ['a "', []],
  ])('%s', (text, expected) => {
    expect(listPrograms(readCommandLine(text))).toEqual(expected);
  });
});
