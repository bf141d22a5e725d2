import * as fc from 'fast-check';

/** Text that is nearly YAML, rich in what means something to it. */
const SPECIAL = [
  ':',
  ': ',
  ' #',
  '#',
  "'",
  '"',
  '[',
  ']',
  '{',
  '}',
  ',',
  ', ',
  '&',
  '*',
  '!',
  '|',
  '>',
  '%',
  '@',
  '`',
  '-',
  '- ',
  '?',
  '? ',
  '~',
  '\\',
  '=',
  '<',
  '.',
  '...',
  '---',
  '\t',
  '  ',
  ' ',
  '\r',
  '\u00a0',
  '\u200b',
  '\u{1f600}',
  '数据',
  'é',
  '\\n',
  '\\u0041',
  "''",
  '\\"',
  'null',
  'true',
  '1.10',
  '0x1',
  'a',
  'b',
  'word',
  'two words',
  'x:y',
  'a/b.c',
];
const PLAIN = [
  'word',
  'two words',
  'Use when needed.',
  'a-b',
  '1.10',
  'true',
  'no',
  '技能',
  'x:y',
  'http://a.b/c?d=e#f',
  'C#',
  'AT&T',
  'a > b',
  '(x)',
  'Bash(git:*)',
  "don't",
  'say "hi"',
  '~',
  'null',
  '',
];
const KEYS = [
  'name',
  'description',
  'license',
  'compatibility',
  'metadata',
  'allowed-tools',
  'version',
  'author',
  'disable-model-invocation',
  'user-invocable',
  'run-mode',
  'requires',
  'paths',
  'model',
  'hooks',
  'Name',
  'allowed_tools',
  '__proto__',
  'constructor',
  'x.y',
  'a/b',
  '键',
  '"quoted"',
  'k k',
  '<<',
];

const noise = fc.array(fc.constantFrom(...SPECIAL), { minLength: 0, maxLength: 6 }).map((parts) => parts.join(''));
const word = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...PLAIN) }, { weight: 2, arbitrary: noise });
const indent = fc.constantFrom('', ' ', '  ', '    ', '\t');

const scalar = fc.oneof(
  { weight: 5, arbitrary: word },
  { weight: 2, arbitrary: word.map((text) => `"${text}"`) },
  { weight: 2, arbitrary: word.map((text) => `'${text}'`) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(word, fc.constantFrom('', ' # note', '#note', ' #', '  '))
      .map(([text, end]) => `${text}${end}`),
  },
);
const lines = (prefix: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .array(
      fc.oneof(
        { weight: 6, arbitrary: fc.tuple(prefix, word).map(([a, b]) => a + b) },
        { weight: 1, arbitrary: fc.constantFrom('', '  ', '# note', '  # note') },
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((all) => all.join('\n'));

const flowItem = fc.letrec<{ readonly item: string }>((tie) => ({
  item: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.array(tie('item'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
    fc
      .array(fc.tuple(fc.constantFrom('a', '"b"', "'c'", 'paths'), fc.constantFrom(': ', ':'), tie('item')), {
        maxLength: 3,
      })
      .map((pairs) => `{ ${pairs.map((pair) => pair.join('')).join(',\n    ')} }`),
  ),
})).item;

const value = fc.oneof(
  { weight: 6, arbitrary: scalar.map((text) => ` ${text}`) },
  {
    weight: 2,
    arbitrary: fc.tuple(scalar, lines(fc.constantFrom('  ', ' ', '    '))).map(([first, rest]) => ` ${first}\n${rest}`),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom('|', '>', '|-', '>-', '|+', '>+', '|2', '> # c'),
        lines(fc.constantFrom('  ', '  ', '   ', '    ')),
      )
      .map(([sign, rest]) => ` ${sign}\n${rest}`),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('  - ', '- ', '    - '), fc.array(scalar, { minLength: 1, maxLength: 3 }))
      .map(([dash, items]) => `\n${items.map((item) => dash + item).join('\n')}`),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom('  ', ' ', '    '),
        fc.array(fc.tuple(fc.constantFrom(...KEYS), scalar), { minLength: 1, maxLength: 3 }),
      )
      .map(([pad, pairs]) => `\n${pairs.map(([key, text]) => `${pad}${key}: ${text}`).join('\n')}`),
  },
  { weight: 1, arbitrary: fc.tuple(scalar, scalar).map(([a, b]) => `\n  - key: ${a}\n    other: ${b}\n  - x`) },
  { weight: 2, arbitrary: flowItem.map((text) => ` ${text}`) },
  { weight: 1, arbitrary: flowItem.map((text) => `\n  ${text}`) },
  { weight: 1, arbitrary: fc.constantFrom('', ' ', ' # note', '\n', '\n\n') },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('"', "'"), lines(fc.constantFrom('  ', ' ', '')), fc.constantFrom('', '\\'))
      .map(([quote, rest, end]) => ` ${quote}start ${end}\n${rest}${quote}`),
  },
);

const field = fc.tuple(fc.constantFrom(...KEYS), value).map(([key, text]) => `${key}:${text}`);
const line = fc.oneof(
  { weight: 14, arbitrary: field },
  { weight: 1, arbitrary: fc.constantFrom('', '# note', '  # note', '   ') },
  { weight: 1, arbitrary: fc.tuple(indent, noise).map(([a, b]) => a + b) },
);

/** Lines that are mostly right: a name, a description, and after, between or instead of them fields that occur once. */
export const mostlyRight: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof({ weight: 4, arbitrary: fc.constant(' pdf-forms') }, value),
    fc.oneof({ weight: 2, arbitrary: fc.constant(' x') }, value),
    fc.uniqueArray(fc.tuple(fc.constantFrom(...KEYS), value), { maxLength: 4, selector: ([key]) => key }),
    fc.nat(4),
    fc.constantFrom('\n', '\n', '\n', '\n\n', '\n# note\n'),
  )
  .map(([name, description, fields, at, end]) =>
    fields
      .filter(([key]) => key !== 'name' && key !== 'description')
      .map(([key, text]) => `${key}:${text}`)
      .toSpliced(at, 0, `description:${description}`)
      .toSpliced(at % 3, 0, `name:${name}`)
      .join(end),
  );

/** The lines between two fences. */
export const yamlIsh: fc.Arbitrary<string> = fc
  .tuple(fc.array(line, { minLength: 1, maxLength: 5 }), fc.constantFrom('\n', '\n', '\n', '\n', '\r\n'))
  .map(([all, end]) =>
    ['name: pdf-forms', 'description: x', ...all]
      .slice(all.length % 3)
      .join('\n')
      .replaceAll('\n', end),
  );

/** Anything at all. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  yamlIsh,
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.array(fc.constantFrom(...SPECIAL, '\n', '\n'), { maxLength: 60 }).map((parts) => parts.join('')),
);
