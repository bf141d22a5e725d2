/** Statements that take one variable out of many by its name: a script that finds its own key in `.env` gives nothing else away. */
import type { FlowStatement, Unit } from './read-units.ts';
import type { Strings } from './split-code.ts';

const NAME = String.raw`[A-Z][A-Z\d_]{2,60}`;
/** The name of a variable, or an expression that finds it. */
const NAMES_VARIABLE = new RegExp(
  String.raw`^\^?(?:export |\\s\*|\(\?:export\\s\+\)\?)?\(?${NAME}(?:\)|\\s\*|\s)?(?:=|$)`,
);
/** The argument of a search, or the other side of a comparison: a string, an expression, or a parameter. */
const SEARCHED =
  /(?:\.(?:starts_?with|startsWith|match|search|removeprefix)|\bre\.(?:match|search|findall)|\bRegExp|[!=]==?|\bconfig) ?\(? ?(?:\ue000(\d+)\ue001(?:\+\((\w{1,40})\))?|(\/NAME\/)|(?<=== ?)(?!null\b|undefined\b|None\b|True\b|False\b|true\b|false\b)([A-Za-z_]\w{0,40})\b(?! ?[.(]))|(\/NAME\/)\.exec\(|\ue000(\d+)\ue001 ?===? /g;
const DENIED = /(?:!|\bnot )[\w.$]{1,60}\.(?:starts_?with|startsWith|match)\(|!==?/;
const SHELL_SEARCH = new RegExp(
  String.raw`\b(?:[ef]?grep|rg|sed|awk)\b[^|;]{0,80}[\^/ ](?:export )?(?:${NAME}|\$\{?\w{1,40}\}?)=|\bgrep (?:-\S{1,20} )*\^?${NAME} \S{0,60}\.env\b`,
);
const IS_HEAD = /^(?:\} ?)?(?:el|else )?if\b/;
const TAKES_APART = /^(?:const|let|var)? ?\{[^.]{1,400}\}$/;

export function findSelections(units: readonly Unit[], strings: Strings): ReadonlySet<FlowStatement> {
  return new Set(
    units.filter(({ file }) => /env/i.test(file.text)).flatMap(({ statements }) => selectionsIn(statements, strings)),
  );
}

function selectionsIn(statements: readonly FlowStatement[], strings: Strings): readonly FlowStatement[] {
  const found: FlowStatement[] = [];
  // The body of a condition, or what follows one that skips everything else.
  let guard: { readonly level: number; readonly isRest: boolean; readonly isOne: boolean } | undefined;
  for (const statement of statements) {
    const { level, code, left } = statement;
    if (guard !== undefined && (guard.isRest ? level < guard.level : !guard.isOne && level <= guard.level))
      guard = undefined;
    const isSearch = searchesName(statement, strings);
    if (isSearch && IS_HEAD.test(code)) {
      guard = { level, isRest: DENIED.test(code), isOne: !/[:{]$/.test(code) };
      continue;
    }
    const isKept = left !== '' || /^return\b/.test(code);
    if (isKept && (guard !== undefined || (isSearch && !DENIED.test(code)) || TAKES_APART.test(left)))
      found.push(statement);
    if (guard?.isOne === true && !guard.isRest) guard = undefined;
  }
  return found;
}

function searchesName({ unit, code }: FlowStatement, strings: Strings): boolean {
  if (unit.language === 'shell') return SHELL_SEARCH.test(code);
  return [...code.matchAll(SEARCHED)].some(
    ([, text, joined, expression, name, tested, other]) =>
      [expression, tested, name, joined].some((one) => one !== undefined) ||
      NAMES_VARIABLE.test(strings[Number(text ?? other)] ?? ''),
  );
}
