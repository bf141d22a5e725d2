/** How Codex divides its budget among the lines of its list. */

export interface SkillLine {
  readonly name: string;
  readonly description: string;
  readonly locator: string;
}

const BYTES_PER_TOKEN = 4;

function tokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** The tokens that Codex counts for a line with its line break. */
export function lineCost({ name, description, locator }: SkillLine): number {
  return tokens(Buffer.byteLength(`- ${name}: ${description === '' ? '' : `${description} `}(file: ${locator})\n`));
}

/** Measured: bytes around the table of aliases, and tokens that the introduction of a list with full paths would cost. */
const AROUND_TABLE = 295;
const FULL_INTRODUCTION = 113;

/** What the table of aliases takes from the budget. */
export function aliasCost(roots: readonly string[]): number {
  const table = ['### Skill roots', ...roots.map((root, at) => `- \`r${String(at)}\` = \`${root}\``)].join('\n');
  return Math.max(0, tokens(AROUND_TABLE + Buffer.byteLength(table)) - FULL_INTRODUCTION);
}

/** The characters of each description that are shown; undefined for a line that is left out. */
export function allocateCharacters(lines: readonly SkillLine[], limit: number): readonly (number | undefined)[] {
  const full = lines.reduce((sum, line) => sum + lineCost(line), 0);
  if (full <= limit) return lines.map(({ description }) => [...description].length);
  const least = lines.map((line) => lineCost({ ...line, description: '' }));
  const total = least.reduce((sum, cost) => sum + cost, 0);
  if (total <= limit) return shareOut(lines, limit - total);
  let used = 0;
  return least.map((cost) => {
    if (used + cost > limit) return undefined;
    used += cost;
    return 0;
  });
}

/** One character for each description in turn, so that none takes the room of the others. */
function shareOut(lines: readonly SkillLine[], room: number): readonly number[] {
  const costs = lines.map(extraCosts);
  const shown = lines.map(() => 0);
  let left = room;
  for (let changed = true; changed;) {
    changed = false;
    for (const [at, own] of costs.entries()) {
      const [now = 0, next] = [own[shown[at] ?? 0], own[(shown[at] ?? 0) + 1]];
      if (next === undefined || next - now > left) continue;
      left -= next - now;
      shown[at] = (shown[at] ?? 0) + 1;
      changed = true;
    }
  }
  return shown;
}

/** What the first n characters of a description cost beyond a line without a description, for each n. */
function extraCosts(line: SkillLine): readonly number[] {
  const bytes = Buffer.byteLength(`- ${line.name}: (file: ${line.locator})\n`);
  const base = tokens(bytes);
  let sum = bytes + ' '.length;
  const costs = [0];
  for (const character of line.description) {
    sum += Buffer.byteLength(character);
    costs.push(tokens(sum) - base);
  }
  return costs;
}
