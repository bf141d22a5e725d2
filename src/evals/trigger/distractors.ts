/** Generates unrelated skills, to measure triggering among many installed skills. The same number always gives the same skills. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { quoted } from '#core';
import { makeFolders } from '#platform';
import { skillFoldersIn } from '../cases/suite.ts';
import { raiseUsage } from '../project/raise-usage.ts';

const VERBS = [
  'draft',
  'review',
  'plan',
  'compare',
  'translate',
  'archive',
  'summarise',
  'schedule',
  'estimate',
  'audit',
];

const FIELDS: readonly { readonly word: string; readonly things: readonly string[] }[] = [
  { word: 'garden', things: ['planting plans', 'soil tests', 'seed orders', 'watering rotas', 'compost records'] },
  { word: 'kitchen', things: ['menus', 'allergen sheets', 'shopping lists', 'recipe cards', 'oven timetables'] },
  { word: 'school', things: ['lesson outlines', 'seating plans', 'report cards', 'field trips', 'exam papers'] },
  { word: 'theatre', things: ['rehearsal calls', 'prop lists', 'lighting cues', 'programme notes', 'casting sheets'] },
  { word: 'hospital', things: ['ward rotas', 'discharge letters', 'stock counts', 'bed plans', 'visitor notices'] },
  { word: 'shipping', things: ['freight quotes', 'customs forms', 'packing lists', 'port schedules', 'damage claims'] },
  { word: 'legal', things: ['contracts', 'lease notices', 'court bundles', 'patent claims', 'privacy notices'] },
  { word: 'finance', things: ['invoices', 'expense claims', 'cash forecasts', 'tax estimates', 'budget letters'] },
  {
    word: 'software',
    things: ['release notes', 'incident reports', 'API references', 'migration guides', 'test plans'],
  },
  { word: 'research', things: ['grant proposals', 'survey forms', 'lab notebooks', 'reading lists', 'poster layouts'] },
  { word: 'travel', things: ['itineraries', 'visa letters', 'packing advice', 'hotel requests', 'rail connections'] },
  { word: 'sport', things: ['training weeks', 'match reports', 'team sheets', 'injury logs', 'fixture lists'] },
  { word: 'music', things: ['set lists', 'score parts', 'practice diaries', 'liner notes', 'tuning charts'] },
  { word: 'property', things: ['house surveys', 'rent reviews', 'floor plans', 'repair orders', 'viewing notes'] },
  { word: 'farm', things: ['herd books', 'crop rotations', 'feed orders', 'milk records', 'fence repairs'] },
  { word: 'museum', things: ['wall texts', 'loan letters', 'object cards', 'guided tours', 'catalogue entries'] },
  { word: 'radio', things: ['running orders', 'interview briefs', 'jingle scripts', 'music returns', 'weather links'] },
  { word: 'charity', things: ['donor letters', 'volunteer rotas', 'appeal texts', 'impact reports', 'raffle rules'] },
  { word: 'police', things: ['patrol plans', 'lost property', 'witness letters', 'road notices', 'event briefings'] },
  { word: 'printing', things: ['paper orders', 'proof sheets', 'colour targets', 'binding notes', 'press schedules'] },
];

const MOST_DISTRACTORS = VERBS.length * FIELDS.length * 5;

/** Cycles through the fields, so that ten distractors come from ten fields. */
function distractorAt(place: number): { readonly name: string; readonly description: string } {
  const field = FIELDS[place % FIELDS.length] ?? { word: 'other', things: ['things'] };
  const round = Math.floor(place / FIELDS.length);
  const verb = VERBS[(place + round) % VERBS.length] ?? 'list';
  const thing = field.things[Math.floor(round / VERBS.length) % field.things.length] ?? 'things';
  return {
    name: `${field.word}-${verb}-${thing.replaceAll(' ', '-').toLowerCase()}`,
    description: `Helps to ${verb} ${thing} for ${field.word} work. Use it when the user asks to ${verb} ${thing}.`,
  };
}

export function writeDistractors(folder: string, count: number): readonly string[] {
  return Array.from({ length: Math.min(count, MOST_DISTRACTORS) }, (_, place) =>
    writeSkill(folder, distractorAt(place), 'Ask for the details, then do it.'),
  );
}

/** Writes a skill below a folder and returns its own folder. */
export function writeSkill(
  folder: string,
  { name, description }: Readonly<Record<'name' | 'description', string>>,
  body: string,
): string {
  const dir = path.join(folder, name);
  makeFolders(dir);
  const text = `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n\n${body}\n`;
  writeFileSync(path.join(dir, 'SKILL.md'), text);
  return dir;
}

/** `word` is numbers of generated skills, or a folder whose skills are used in steps of 10, 100 and 1000. */
export function readDistractors(
  word: string | undefined,
  cwd: string,
): { readonly distractors?: readonly number[]; readonly others?: readonly string[] } {
  if (word === undefined) return {};
  if (/^\d{1,6}(?:,\d{1,6})*$/.test(word)) {
    const distractors = word.split(',').map(Number);
    if (distractors.every((count) => count >= 1 && count <= MOST_DISTRACTORS)) return { distractors };
    raiseUsage(`--distractors must be numbers from 1 to ${String(MOST_DISTRACTORS)}`, `got ${quoted(word, 200)}`);
  }
  const others = skillFoldersIn(path.resolve(cwd, word));
  if (others.length === 0) raiseUsage(`no skills in ${quoted(word, 200)}`, 'name a folder of skills');
  const steps = [10, 100, 1000].filter((count) => count < others.length);
  return { others, distractors: [...steps, others.length] };
}
