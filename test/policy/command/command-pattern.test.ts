import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { readCommandLine } from '../../../src/policy/command/command-line.ts';
import type { SimpleCommand } from '../../../src/core/command.ts';
import { meansLine } from '../../../src/policy/command/command-meaning.ts';
import {
  coversCommand,
  firstUncovered,
  hazardOf,
  isCommandPattern,
  programsOf,
  readCommandPattern,
} from '../../../src/policy/command/command-pattern.ts';
import type { CommandPattern } from '../../../src/policy/command/command-pattern.ts';

function pattern(text: string): CommandPattern {
  const read = readCommandPattern(text);
  if (!isCommandPattern(read)) throw new Error(read.problem);
  return read;
}

function command(text: string): SimpleCommand {
  const line = readCommandLine(text);
  const first = line.type === 'commands' ? line.commands[0] : undefined;
  if (first === undefined) throw new Error(`${text} is not one command`);
  return first;
}

const isCovered = (rule: string, text: string) => coversCommand(pattern(rule), command(text));
const meaning = (rule: string, text: string) => meansLine(pattern(rule), readCommandLine(text));

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
    expect(isCommandPattern(read) ? read : read.problem).toContain(problem);
  });
});

describe('a rule that allows', () => {
  it.each([
    ['git status', 'git status'],
    ['git:*', 'git'],
    ['git:*', 'git status -s'],
    ['git:*', '/usr/bin/git status'],
    ['git add *', 'git add a'],
    ['git add *', 'git add -- a b'],
    ['cat docs/*.md', 'cat docs/a/b.md'],
    ['cat docs/*', 'cat docs/*.md'],
    ['npm run *:unit', 'npm run test:unit'],
    ['*', 'rm -rf /'],
    ['python3 scripts/report.py:*', 'python3 scripts/report.py -c x --eval y'],
    ['python3 -m pytest:*', 'python3 -m pytest -c x'],
    ['python3:*', 'python3 -c x'],
    ['python3:*', 'python3 -'],
    ['./scripts/x.sh:*', './scripts/x.sh a'],
    ['./scripts/*:*', './scripts/y.sh a'],
    ['git -c core.pager=cat:*', 'git -c core.pager=cat log'],
    ['find . -exec:*', "find . -exec rm {} ';'"],
    ['bash -c:*', "bash -c 'x y'"],
    ['bash:*', 'bash x.sh'],
    ['bash scripts/build.sh:*', 'bash scripts/build.sh -c'],
    ['git status:*', 'timeout 5 git status'],
    ['git status:*', 'nice -n 5 nohup git status -s'],
    ['git status:*', 'env git status'],
    ['cat:*', 'xargs cat'],
    ['timeout 5 make:*', 'timeout 5 make test'],
    ['less README.md', 'less README.md'],
    ['sudo systemctl restart x', 'sudo systemctl restart x'],
    ['docker run:*', 'docker run --rm -H x y'],
    ['npx playwright:*', 'npx playwright install --config x'],
    ['pip install -r requirements.txt', 'pip install -r requirements.txt'],
    ['sed:*', "sed -n -e '1,5p' -e 's/a/b/g;$d' x"],
    ['sed:*', "sed -E 's|^a/(b)|\\1|' x"],
    ['awk:*', "awk -F, '{print $1, $3}' x"],
    ['awk:*', "awk '$3 >= 5 || $1 == 2 {n += $2} END {print n}' x"],
    ['find:*', 'find . -name *.py -type f'],
    ['sort:*', 'sort -t, -k2 -n ./*.csv'],
    ['uniq:*', 'uniq -c'],
    ['curl:*', "curl -s -o /dev/null -w '%{http_code}' https://example.org"],
    ['curl:*', `curl -X POST -H 'A: b' -d '{"u":"http://x"}' https://example.org`],
    ['git log:*', 'git log --oneline -n 5 --format=%H -- ./*.md'],
    ['tar:*', 'tar -xzf x.tgz -C out'],
    ['git config:*', 'git config user.name x'],
    ['git:*', 'git config --get user.name'],
    ['git:*', 'git --no-pager diff'],
    ['git -C:*', 'git -C x log'],
    ['[:*', '[ -f x ]'],
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
    ['git:*', 'bin/git status'],
    ['git:*', '/tmp/git status'],
    ['git:*', '/usr/bin/../../tmp/git status'],
    ['git:*', '/usr/bin/x/git status'],
    ['git:*', 'Git status'],
    ['py*:*', './python3 x'],
    ['./scripts/*:*', './scripts/../x.sh'],
    ['./x.sh', 'x.sh'],
    ['cat docs/*', 'cat docs/../x'],
    ['cat docs/*', 'cat docs/a --x=..'],
    ['cat docs/*', 'cat docs/{a,b}'],
    ['cat docs/* x', 'cat docs/* x'],
    ['cat x', 'cat [x]'],
    ['python3 -u:*', 'python3 -u -c x'],
    ['python3 *.py', 'python3 -c x.py'],
    ['env:*', 'env X=1 ls'],
    ['ls:*', 'env X=1 ls'],
    ['ls:*', './env ls'],
    ['sudo:*', 'sudo ls'],
    ['less:*', 'less x'],
    ['timeout:*', 'timeout 5 ls'],
    ['sed:*', "sed 's/a/b/e' x"],
    ['sed:*', "sed 's/a/b/w x' y"],
    ['sed:*', "sed '/a/,/b/{p}' x"],
    ['sed:*', 'sed -n p *.txt'],
    ['find:*', 'find . -name *'],
    ['find:*', 'find * -name x'],
    ['sort:*', 'sort *.csv'],
    ['wget:*', 'wget -qO- -Ox https://example.org'],
    ['curl:*', 'curl -o /dev/null -o x https://example.org'],
  ])('%j does not cover %j', (rule, text) => {
    expect(isCovered(rule, text)).toBe(false);
  });

  it('judges a line as a whole: after cd only rules without relative paths count', () => {
    const uncovered = (text: string) => {
      const line = readCommandLine(text);
      const rules = ['cd:*', 'git status:*', './x.sh', 'python3 scripts/a.py:*', '/opt/y.sh:*'].map(pattern);
      return line.type === 'unclear'
        ? line.reason
        : firstUncovered(rules, line.commands)?.words.map((word) => word.text);
    };
    expect(uncovered('./x.sh && python3 scripts/a.py b && cd c && git status')).toBeUndefined();
    expect(uncovered('cd c && /opt/y.sh')).toBeUndefined();
    expect(uncovered('cd c && git status && ./x.sh')).toEqual(['./x.sh']);
    expect(uncovered('command cd c; python3 scripts/a.py')).toEqual(['python3', 'scripts/a.py']);
    expect(uncovered('git status | rm x')).toEqual(['rm', 'x']);
  });

  it('says which word is in the way', () => {
    expect(hazardOf(command('git -c core.pager=sh log'))).toBe('git -c can run other programs or load code');
    expect(hazardOf(command('timeout 5 sh -c x'))).toBe('sh -c can run other programs or load code');
    expect(hazardOf(command('sort *.csv'))).toBe('sort *.csv may expand to an option; write ./ before it');
    expect(hazardOf(command('git diff --output=x'))).toBe(
      'git --output=x reads or writes files that the rule does not name',
    );
    expect(hazardOf(command('git status'))).toBeUndefined();
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
        expect(line.commands.every((each) => coversCommand(pattern('git:*'), each))).toBe(false);
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
    ['rm:*', 'python3 -c x', 'unclear'],
    ['rm:*', 'ls $(x)', 'unclear'],
    ['rm:*', 'git -c a=b log', 'unclear'],
    ['rm:*', 'git -C x log', 'no'],
    ['rm:*', 'socat - EXEC:x', 'unclear'],
    ['rm:*', 'echo x | bash', 'unclear'],
    ['rm:*', 'env X=1 ls', 'unclear'],
    ['rm:*', 'ls; python3 -c x; rm y', 'yes'],
    ['*', 'ls $(x)', 'yes'],
    ['*', 'ls', 'yes'],
  ] as const)('%j for %j: %s', (rule, text, expected) => {
    expect(meaning(rule, text)).toBe(expected);
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
    ['a $(b)', []],
  ])('%s', (text, expected) => {
    expect(programsOf(readCommandLine(text))).toEqual(expected);
  });
});
