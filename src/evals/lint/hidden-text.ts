/** Finds a text in the name of a file, or in its content as base64, hexadecimal, character codes, ROT13, backwards or letter by letter. */
import type { SkillText } from './finding.ts';

/** Shorter texts occur by chance, and shorter scrambled ones as a part of another word or number. */
const FEWEST_CHARACTERS = 4;
const FEWEST_IN_WORDS = 6;

/** Says how the file hides the text; undefined if it does not. */
export function readHiddenText(needed: string, { file, text }: SkillText): string | undefined {
  const wanted = needed.trim();
  if (wanted.length < FEWEST_CHARACTERS) return undefined;
  if (lettersOf(file).includes(lettersOf(wanted)) && lettersOf(wanted).length >= FEWEST_CHARACTERS)
    return 'in its name';
  if (text === '') return undefined;
  const forms = spell(wanted);
  // Letters of full width are letters.
  const folded = text.normalize('NFKC').toLowerCase();
  if (folded !== text.toLowerCase() && folded.includes(wanted.toLowerCase())) return 'in other letters';
  if (forms.apart.test(folded)) return 'letter by letter';
  // Base64 may be wrapped; hexadecimal digits and codes have separators of any kind.
  const joined = text.replaceAll(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/');
  if (forms.base64.some((form) => form.length >= FEWEST_CHARACTERS && joined.includes(form))) return 'as base64';
  if (folded.replaceAll(/\\u00|\\x|0x|&#x|[%;,:\s-]/g, '').includes(forms.hex)) return 'as hexadecimal digits';
  if (` ${text.replaceAll(/\D+/g, ' ')} `.includes(` ${forms.codes} `)) return 'as character codes';
  const isScrambled = (form: string): boolean =>
    form !== wanted.toLowerCase() && (wanted.length < FEWEST_IN_WORDS ? hasWord(folded, form) : folded.includes(form));
  if (isScrambled(forms.rot13)) return 'in ROT13';
  return isScrambled(forms.reversed) ? 'backwards' : undefined;
}

const hasWord = (text: string, word: string): boolean =>
  text.split(word).some((before, place, parts) => {
    const after = parts[place + 1];
    return after !== undefined && !/[\p{L}\p{N}]$/u.test(before) && !/^[\p{L}\p{N}]/u.test(after);
  });

const lettersOf = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');

function spell(wanted: string) {
  const bytes = Buffer.from(wanted);
  const lower = wanted.toLowerCase();
  return {
    // In a longer text, its bytes may start at each of three places of a group; the characters at the edges hold other bits too.
    base64: [0, 1, 2].map((skipped) => {
      const bits = Buffer.concat([Buffer.alloc(skipped), bytes]);
      const whole = Math.floor((bits.length * 8) / 6);
      return bits.toString('base64').slice(Math.ceil((skipped * 8) / 6), whole);
    }),
    hex: bytes.toString('hex'),
    codes: [...bytes].join(' '),
    // Spaces, dashes and invisible characters between all of them.
    apart: new RegExp([...lettersOf(wanted)].join(String.raw`[^\p{L}\p{N}\n]{1,8}`), 'u'),
    rot13: lower.replaceAll(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 97 + 13) % 26) + 97)),
    reversed: [...lower].toReversed().join(''),
  };
}
