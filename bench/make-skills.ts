import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

/** How many of a thousand authored public skills have each trait (docs/research/real-data.md, section 1). */
const PER_MILLE = {
  unknownField: 597,
  allowedToolsCommas: 218,
  allowedToolsList: 16,
  angleBracketsElsewhere: 206,
  foldedDescription: 186,
  chinese: 135,
  nameDiffers: 91,
  nestedMetadata: 75,
  plainMetadata: 250,
  noFrontmatter: 20,
  upperCaseName: 15,
  unquotedColon: 4,
  crlf: 2,
  bom: 1,
  descriptionMissing: 2,
  license: 180,
  scripts: 149,
  references: 236,
} as const;

export interface MakeSkillsOptions {
  /** Receives one folder a skill. */
  readonly directory: string;
  readonly count: number;
  readonly seed?: number;
  /** With `retrieval/skills-10k.json.gz` in it: real names and descriptions. */
  readonly dataDir?: string | undefined;
}

export interface MadeSkills {
  readonly folders: readonly string[];
  readonly bytes: number;
}

/** Writes skills shaped like the public ones; the same seed gives the same bytes. */
export function makeSkills({ directory, count, seed = 1, dataDir }: MakeSkillsOptions): MadeSkills {
  const random = mulberry32(seed);
  const texts = dataDir === undefined ? [] : realTexts(dataDir);
  mkdirSync(directory, { recursive: true });
  const folders: string[] = [];
  const taken = new Set<string>();
  let bytes = 0;
  for (let number = 0; number < count; number += 1) {
    const real = texts[number % Math.max(1, texts.length)];
    const name = uniqueName(slug(real?.name ?? inventName(random)), number, taken);
    const content = skillFile({ random, name, description: real?.description ?? inventDescription(random) });
    const folder = path.join(directory, name);
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'SKILL.md'), content);
    if (chance(random, PER_MILLE.scripts)) mkdirSync(path.join(folder, 'scripts'));
    if (chance(random, PER_MILLE.references)) mkdirSync(path.join(folder, 'references'));
    folders.push(folder);
    bytes += Buffer.byteLength(content);
  }
  return { folders, bytes };
}

/** One plain skill with a body of a given size. Gives the path of its file. */
export function makeOneSkill({
  directory,
  name,
  bodyBytes,
}: {
  readonly directory: string;
  readonly name: string;
  readonly bodyBytes: number;
}): string {
  const folder = path.join(directory, name);
  mkdirSync(folder, { recursive: true });
  const line =
    'Read the file, change what was asked for, and run the tests before you go on to the next step of the list. ';
  // Long lines: the limit on lines is not what is measured.
  const body = `${line.repeat(2)}\n`.repeat(Math.ceil(bodyBytes / (line.length * 2))).slice(0, bodyBytes);
  const file = path.join(folder, 'SKILL.md');
  writeFileSync(file, `---\nname: ${name}\ndescription: Is long. Use it to measure.\n---\n\n${body}`);
  return file;
}

interface RealText {
  readonly name: string;
  readonly description: string;
}

function realTexts(dataDir: string): readonly RealText[] {
  const file = path.join(dataDir, 'retrieval', 'skills-10k.json.gz');
  const parsed: unknown = JSON.parse(gunzipSync(readFileSync(file)).toString('utf8'));
  if (!Array.isArray(parsed)) return [];
  return parsed.filter(
    (item): item is RealText =>
      typeof item === 'object' &&
      item !== null &&
      typeof item.name === 'string' &&
      typeof item.description === 'string',
  );
}

interface SkillText {
  readonly random: () => number;
  readonly name: string;
  readonly description: string;
}

function skillFile({ random, name, description }: SkillText): string {
  const body = inventBody(random, name);
  if (chance(random, PER_MILLE.noFrontmatter)) return `# ${name}\n\n${body}`;
  const lines = [`name: ${statedName(random, name)}`];
  if (!chance(random, PER_MILLE.descriptionMissing)) lines.push(...descriptionLines(random, description));
  if (chance(random, PER_MILLE.license)) lines.push('license: MIT');
  if (chance(random, PER_MILLE.allowedToolsCommas)) lines.push('allowed-tools: Read, Write, Bash(git:*), Grep');
  else if (chance(random, PER_MILLE.allowedToolsList))
    lines.push('allowed-tools:', '  - Read', '  - "Bash(npm run test:*)"');
  if (chance(random, PER_MILLE.unknownField)) lines.push(...pick(random, UNKNOWN_FIELDS));
  if (chance(random, PER_MILLE.plainMetadata))
    lines.push(
      'metadata:',
      `  version: "${String(1 + Math.floor(random() * 4))}.${String(Math.floor(random() * 10))}.0"`,
      '  author: someone',
      '  category: tools',
    );
  else if (chance(random, PER_MILLE.nestedMetadata))
    lines.push('metadata:', '  version: 1.0', '  tags: [pdf, forms]', '  owner:', '    name: team', '    level: 2');
  if (chance(random, PER_MILLE.angleBracketsElsewhere)) lines.push('argument-hint: <file> [--out <dir>]');
  const text = `---\n${lines.join('\n')}\n---\n\n${body}`;
  if (chance(random, PER_MILLE.crlf)) return text.replaceAll('\n', '\r\n');
  return chance(random, PER_MILLE.bom) ? `\uFEFF${text}` : text;
}

function statedName(random: () => number, name: string): string {
  if (chance(random, PER_MILLE.upperCaseName))
    return name.replaceAll('-', ' ').replace(/^./, (first) => first.toUpperCase());
  return chance(random, PER_MILLE.nameDiffers) ? `${name}-skill` : name;
}

function descriptionLines(random: () => number, description: string): readonly string[] {
  const flat = description.replaceAll(/\s+/g, ' ').trim();
  if (chance(random, PER_MILLE.foldedDescription))
    return [random() < 0.5 ? 'description: >-' : 'description: |', ...wrap(flat, 90).map((line) => `  ${line}`)];
  if (chance(random, PER_MILLE.unquotedColon)) return [`description: Use when: ${flat}`];
  const plain = /^[\p{L}\p{N}]/u.test(flat) && !flat.includes(': ') && !flat.includes(' #') && !flat.endsWith(':');
  if (plain && random() < 0.8) return [`description: ${flat}`];
  return [random() < 0.8 ? `description: ${JSON.stringify(flat)}` : `description: '${flat.replaceAll("'", "''")}'`];
}

const UNKNOWN_FIELDS: readonly (readonly string[])[] = [
  ['version: 1.2.0'],
  ['author: someone', 'version: 0.3.1'],
  ['category: productivity'],
  ['tags: [git, review, "code quality"]'],
  ['model: sonnet'],
  ['triggers:', '  - review', '  - audit'],
  ['user-invocable: true'],
];

const WORDS =
  'agent api audit backup build cache chart check code config convert data debug deploy design docs draft email export fetch file form format git graph guide image import index json lint list log merge migrate model note pack page parse pdf plan query release report review schema script search sheet site slide spec sql style sync table task template test text theme tool trace translate update validate video web write'.split(
    ' ',
  );
const CHINESE = '数据分析报告生成代码审查文档翻译图像处理表格转换项目管理测试部署搜索总结使用时机包括'.split('');

function inventName(random: () => number): string {
  return Array.from({ length: 2 + Math.floor(random() * 2) }, () => pick(random, WORDS)).join('-');
}

/** Lengths as in the field: median 250 characters, a long tail to 1,000. */
function inventDescription(random: () => number): string {
  const length = Math.min(1000, Math.round(60 + 190 * -Math.log(1 - random() * 0.995)));
  const words: string[] = [];
  const chinese = chance(random, PER_MILLE.chinese);
  for (let size = 0; size < length; size += (words.at(-1)?.length ?? 0) + 1)
    words.push(chinese ? Array.from({ length: 6 }, () => pick(random, CHINESE)).join('') : pick(random, WORDS));
  const text = words.join(' ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}. Use when the user asks for it.`;
}

/** About 6 KB on average, exponential, with headings and non-ASCII punctuation. */
function inventBody(random: () => number, name: string): string {
  const size = Math.min(60_000, Math.round(400 + 5_600 * -Math.log(1 - random() * 0.999)));
  const paragraph = `\n## ${inventName(random)}\n\nRun the steps for ${name} in order — and check each result before the next: read the file, change what is asked, run the tests.\n\n- one → two\n- three\n`;
  return `# ${name}\n${paragraph.repeat(Math.ceil(size / paragraph.length))}`.slice(0, size);
}

function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length > width) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

function slug(name: string): string {
  const text = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 56)
    .replace(/-$/, '');
  return text === '' ? 'skill' : text;
}

function uniqueName(name: string, number: number, taken: Set<string>): string {
  const unique = taken.has(name) ? `${name}-${number.toString(36)}` : name;
  taken.add(unique);
  return unique;
}

function chance(random: () => number, perMille: number): boolean {
  return random() * 1000 < perMille;
}

function pick<T>(random: () => number, from: readonly T[]): T {
  const item = from[Math.floor(random() * from.length)];
  if (item === undefined) throw new RangeError('nothing to pick from');
  return item;
}

/** A small seeded generator: the same numbers on every machine. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
