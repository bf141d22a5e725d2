/** Forty skills of as many trades, six pairs of which were planted: they say the same in other words. */
import type { CatalogSkill } from '../../src/runtime/search/confusable-skills.ts';

/** Named by what they are, so that the name gives nothing away. */
const PLANTED: readonly (readonly [string, string])[] = [
  [
    'invoice-checker: Checks invoices for wrong totals and missing tax numbers. Use it when somebody wants an invoice checked.',
    'bill-review: Reviews invoices for wrong totals and missing tax numbers. Use it when an invoice must be checked.',
  ],
  [
    'meeting-notes: Turns a transcript of a meeting into notes with decisions and tasks. Use it for meeting transcripts.',
    'minutes-writer: Writes minutes with decisions and tasks from the transcript of a meeting. Use it for meeting transcripts.',
  ],
  [
    'sql-tuner: Makes slow SQL queries faster by reading query plans and proposing indexes. Use it for slow SQL queries.',
    'query-doctor: Finds out why SQL queries are slow, reads query plans and proposes indexes. Use it for slow SQL queries.',
  ],
  [
    'cv-editor: Edits a CV for one job advertisement. Use it when somebody applies for a job with a CV.',
    'resume-polish: Polishes a CV to fit a job advertisement. Use it when somebody applies for a job with a CV.',
  ],
  [
    'image-resize: Resizes photos and pictures to given pixel sizes. Use it to resize photos or pictures.',
    'photo-scaler: Scales photos and pictures to given pixel sizes. Use it to resize photos or pictures.',
  ],
  [
    'trip-planner: Plans train trips with changes and hotel stops. Use it to plan a trip by train.',
    'rail-journeys: Plans journeys by train with changes and hotel stops. Use it to plan a trip by train.',
  ],
];

const OTHERS: readonly string[] = [
  'bread-baker: Scales recipes for sourdough bread by flour weight. Use it for bread recipes.',
  'chess-coach: Explains mistakes in chess games from PGN files. Use it for chess games.',
  'poem-meter: Counts syllables and feet of verses. Use it for poems.',
  'dns-doctor: Looks at DNS records of a domain and explains errors. Use it for DNS trouble.',
  'plant-care: Says how often house plants want water. Use it for house plants.',
  'contract-diff: Compares two versions of a contract clause by clause. Use it for contract versions.',
  'audio-trim: Cuts silence from sound recordings. Use it for audio files.',
  'map-tiles: Makes map tiles from shape files. Use it for geographic data.',
  'regex-explain: Explains regular expressions step by step. Use it for regular expressions.',
  'tax-calendar: Lists dates by which taxes are due. Use it for tax deadlines.',
  'git-bisect: Finds the commit that broke a test. Use it for regressions in a repository.',
  'font-pairing: Proposes pairs of typefaces. Use it for typography.',
  'allergy-labels: Writes allergen labels for food. Use it for food labelling.',
  'bike-fit: Works out saddle and handlebar heights. Use it for bicycles.',
  'court-citations: Formats citations of court decisions. Use it for legal citations.',
  'css-grid: Builds page layouts with CSS grid. Use it for web layouts.',
  'dice-odds: Works out odds of dice. Use it for games with dice.',
  'crossword-maker: Lays out crosswords from word lists. Use it for crosswords.',
  'star-charts: Draws the night sky for a place and hour. Use it for astronomy.',
  'kernel-logs: Reads kernel logs for hardware faults. Use it for crashes of a machine.',
  'loan-table: Works out repayment tables for loans. Use it for loans and mortgages.',
  'subtitle-sync: Shifts subtitles to fit a film. Use it for subtitle files.',
  'wine-pairing: Proposes wine for dishes. Use it for dinners.',
  'terraform-review: Reviews Terraform modules for risky defaults. Use it for infrastructure code.',
  'latin-declension: Declines Latin nouns. Use it for Latin grammar.',
  'knit-pattern: Converts knitting patterns to other yarn weights. Use it for knitting.',
  'flight-log: Sums up pilot hours from a log book. Use it for pilots.',
  'color-contrast: Measures contrast of colours for accessibility. Use it for accessible design.',
];

function skillOf(line: string): CatalogSkill {
  const at = line.indexOf(': ');
  const name = line.slice(0, at);
  return { name, description: line.slice(at + 2), file: `skills/${name}/SKILL.md` };
}

export const PLANTED_PAIRS = PLANTED.map((pair) =>
  pair
    .map((line) => skillOf(line).name)
    .toSorted()
    .join(' '),
).toSorted();

export const FORTY_SKILLS: readonly CatalogSkill[] = [...PLANTED.flat(), ...OTHERS].map(skillOf);
