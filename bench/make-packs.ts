import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const WORDS =
  'the a file report table column data value row check with for from into list step note name path page format chart style section summary result input output default option build render draft review update field number date month total sheet cell header footer image font color margin word line text block code sample test case'.split(
    ' ',
  );

/** Words in no order that means anything; the same seed gives the same ones. */
function talker(seed: number) {
  let state = seed;
  const word = (): string => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return WORDS[Math.floor((state / 2 ** 32) * WORDS.length)] ?? 'word';
  };
  const sentence = (length: number): string => {
    const text = Array.from({ length }, word).join(' ');
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  };
  return { word, sentence };
}

type Talker = ReturnType<typeof talker>;

/** Writes so many good skills of one file, about 6 kB each. */
export function makePlainSkills(directory: string, count: number): void {
  const talk = talker(1);
  for (let number = 0; number < count; number += 1) {
    const name = `${talk.word()}-${talk.word()}-${String(number)}`;
    mkdirSync(path.join(directory, name), { recursive: true });
    writeFileSync(path.join(directory, name, 'SKILL.md'), skillText(name, 6_000, talk));
  }
}

/** Of each skill: files of text besides SKILL.md, files of bytes, and how large those are. Together 18 skills, 411 files and about 10 MB. */
const RICH: readonly (readonly [texts: number, binaries: number, binaryBytes: number])[] = [
  [55, 2, 4_000],
  [57, 4, 8_000],
  [57, 4, 8_000],
  [8, 54, 100_000],
  [17, 0, 0],
  [18, 2, 20_000],
  [10, 12, 60_000],
  [9, 1, 30_000],
  [20, 3, 150_000],
  [16, 2, 40_000],
  [8, 1, 10_000],
  [7, 0, 0],
  [6, 0, 0],
  [5, 0, 0],
  [4, 0, 0],
  [4, 0, 0],
  [3, 2, 300_000],
  [2, 0, 0],
];

/** The first skills of the vendor, for documents, sheets and slides, have the same schemas. */
const WITH_SCHEMAS = 3;
const SCHEMAS = 39;

/** Writes skills shaped like the public ones of one vendor: scripts, schemas, fonts, templates. Gives the number of files. */
export function makeRichSkills(directory: string): number {
  const talk = talker(2);
  const schemas = Array.from({ length: SCHEMAS }, () => textOf(25_000, talk));
  let files = 0;
  for (const [place, [texts, binaries, binaryBytes]] of RICH.entries()) {
    const folder = path.join(directory, `${talk.word()}-${talk.word()}-${String(place)}`);
    for (const part of ['scripts', 'references', 'assets']) mkdirSync(path.join(folder, part), { recursive: true });
    writeFileSync(path.join(folder, 'SKILL.md'), skillText(path.basename(folder), 9_000, talk));
    for (let number = 0; number < texts; number += 1)
      writeFileSync(
        path.join(folder, number % 3 === 0 ? 'scripts' : 'references', `part-${String(number)}.txt`),
        (place < WITH_SCHEMAS ? schemas[number] : undefined) ?? textOf(7_000, talk),
      );
    for (let number = 0; number < binaries; number += 1)
      writeFileSync(
        path.join(folder, 'assets', `font-${String(number)}.ttf`),
        Buffer.alloc(binaryBytes, `\0${String(number)}font`),
      );
    files += 1 + texts + binaries;
  }
  return files;
}

function skillText(name: string, length: number, talk: Talker): string {
  const head = `---\nname: ${name}\ndescription: ${talk.sentence(12)} Use it for ${talk.sentence(8)}\n---\n\n# ${name}\n`;
  return head + textOf(length - head.length, talk);
}

function textOf(length: number, { word, sentence }: Talker): string {
  let text = '';
  while (text.length < length)
    text += `\n## ${sentence(3)}\n\n${sentence(20)} ${sentence(16)}\n${sentence(14)}\n\n- ${sentence(9)}\n- ${sentence(7)}\n\n\`\`\`sh\npython scripts/${word()}.py --${word()} ${word()}.csv\n\`\`\`\n`;
  return text;
}
