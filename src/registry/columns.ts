import { diagnose } from '../core/diagnostic.ts';
import type { Diagnostic, Edit, Mode } from '../core/diagnostic.ts';
import { DIAGNOSTIC_RULES } from '../core/diagnostic-codes.ts';
import type { DiagnosticCode } from '../core/diagnostic-codes.ts';
import { makeHead } from '../core/skill.ts';
import type { SkillControls, SkillHead } from '../core/skill.ts';
import type { HeadRecord, PlacedRecord } from './head-record.ts';

/** Where the records are: all that a scan needs to compare them with the disk. */
export interface PlaceColumns {
  readonly directories: readonly string[];
  /** For each record, the number of its directory. */
  readonly within: readonly number[];
  readonly names: readonly string[];
  /** Spellings other than `SKILL.md`, by record number. */
  readonly files: Readonly<Record<string, string>>;
}

/** What the records say. One array of ten thousand strings parses several times faster than ten thousand objects. */
export interface HeadColumns {
  /** 64 hex digits a record, or 64 dots where there is no frontmatter. */
  readonly digests: string;
  /** Empty where the name is that of the folder. */
  readonly titles: readonly string[];
  readonly descriptions: readonly string[];
  /** What not every head has, by record number; `0` for a skill that is left out. */
  readonly rest: Readonly<Record<string, HeadRest | 0>>;
}

/** By record number. */
export type DiagnosticColumn = Readonly<Record<string, readonly DiagnosticTuple[]>>;

interface HeadRest {
  readonly license?: string;
  readonly compatibility?: string;
  readonly controls?: SkillControls;
  readonly meta?: Readonly<Record<string, string>>;
}

type DiagnosticTuple = readonly [
  code: string,
  line: number,
  column: number,
  message: string,
  hint: string,
  edit?: Edit,
];

const NO_DIGEST = '.'.repeat(64);
const PREFIX = 'sha256:';
const USUAL_CONTROLS: SkillControls = Object.freeze({
  disableModelInvocation: false,
  userInvocable: true,
  runMode: 'inline',
});
const NO_META = Object.freeze(withoutPrototype({}));

export function toPlaceColumns(placed: readonly PlacedRecord[]): PlaceColumns {
  const numbers = new Map<string, number>();
  const within: number[] = [];
  const names: string[] = [];
  const files: Record<string, string> = {};
  for (const { parent, name, file } of placed) {
    const number = numbers.get(parent) ?? numbers.size;
    numbers.set(parent, number);
    if (file !== 'SKILL.md') files[String(names.length)] = file;
    within.push(number);
    names.push(name);
  }
  return { directories: [...numbers.keys()], within, names, files };
}

export function toHeadColumns(placed: readonly PlacedRecord[]): HeadColumns {
  const titles: string[] = [];
  const descriptions: string[] = [];
  const digests: string[] = [];
  const rest: Record<string, HeadRest | 0> = {};
  for (const [number, { name, head, digest }] of placed.entries()) {
    const more = head === undefined ? 0 : restOf(head);
    if (more !== undefined) rest[String(number)] = more;
    titles.push(head === undefined || head.name === name ? '' : head.name);
    descriptions.push(head?.description ?? '');
    digests.push(digest === '' ? NO_DIGEST : digest.slice(PREFIX.length));
  }
  return { digests: digests.join(''), titles, descriptions, rest };
}

export function toDiagnosticColumn(placed: readonly PlacedRecord[]): DiagnosticColumn {
  const column: Record<string, readonly DiagnosticTuple[]> = {};
  for (const [number, { diagnostics }] of placed.entries()) {
    if (diagnostics.length > 0) column[String(number)] = diagnostics.map(toTuple);
  }
  return column;
}

function restOf({ license, compatibility, controls, meta }: SkillHead): HeadRest | undefined {
  const rest: HeadRest = {
    ...(license === undefined ? {} : { license }),
    ...(compatibility === undefined ? {} : { compatibility }),
    ...(isUsual(controls) ? {} : { controls }),
    ...(Object.keys(meta).length === 0 ? {} : { meta }),
  };
  return Object.keys(rest).length === 0 ? undefined : rest;
}

function isUsual(controls: SkillControls): boolean {
  const { disableModelInvocation, userInvocable, runMode } = controls;
  return !disableModelInvocation && userInvocable && runMode === 'inline' && Object.keys(controls).length === 3;
}

/** The hint that the table of codes gives anyway is left empty. */
function toTuple({ code, line, column, message, hint, edit }: Diagnostic): DiagnosticTuple {
  const own = hint === DIAGNOSTIC_RULES[code].hint ? '' : hint;
  return edit === undefined ? [code, line, column, message, own] : [code, line, column, message, own, edit];
}

/** The head of a record; nothing where the skill is left out. */
export function headAt(
  { titles, descriptions, rest }: HeadColumns,
  number: number,
  folder: string,
): SkillHead | undefined {
  const more = rest[number];
  if (more === 0) return undefined;
  const title = titles[number] ?? '';
  const name = title === '' ? folder : title;
  const description = descriptions[number] ?? '';
  if (more === undefined) return { name, description, controls: USUAL_CONTROLS, meta: NO_META };
  const { license, compatibility, controls = USUAL_CONTROLS } = more;
  const meta = more.meta === undefined ? NO_META : withoutPrototype(more.meta);
  return makeHead({ name, description, license, compatibility, controls, meta });
}

export function digestAt({ digests }: HeadColumns, number: number): string {
  const hex = digests.slice(number * 64, number * 64 + 64);
  return hex === NO_DIGEST ? '' : PREFIX + hex;
}

export function diagnosticsAt(
  column: DiagnosticColumn,
  number: number,
  { path, mode }: { readonly path: string; readonly mode: Mode },
): HeadRecord['diagnostics'] {
  const tuples = column[number];
  if (tuples === undefined) return [];
  return tuples.flatMap(([code, line, place, message, hint, edit]) => {
    if (!isCode(code)) return [];
    return [
      diagnose(
        {
          code,
          path,
          line,
          column: place,
          message,
          ...(hint === '' ? {} : { hint }),
          ...(edit === undefined ? {} : { edit }),
        },
        mode,
      ),
    ];
  });
}

function withoutPrototype(meta: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const bare: Record<string, string> = Object.create(null);
  for (const key of Object.keys(meta)) bare[key] = meta[key] ?? '';
  return bare;
}

function isCode(code: string): code is DiagnosticCode {
  return Object.hasOwn(DIAGNOSTIC_RULES, code);
}
