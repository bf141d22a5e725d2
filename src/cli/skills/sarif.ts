import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { DIAGNOSTIC_RULES } from '../../core/diagnostic-codes.ts';
import type { DiagnosticRule } from '../../core/diagnostic-codes.ts';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { sarifLocations, sarifReport } from '../../core/sarif.ts';
import { VERSION } from '../../version.ts';

const LEVELS = { error: 'error', warning: 'warning', info: 'note' } as const;

/** Diagnostics as SARIF 2.1.0. Paths below `base` are relative to it. */
export function sarif(diagnostics: readonly Diagnostic[], base: string): object {
  const used = [...new Set(diagnostics.map(({ code }) => code))].toSorted();
  return sarifReport({
    version: VERSION,
    rules: used.map((code) => {
      const rule: DiagnosticRule = DIAGNOSTIC_RULES[code];
      return {
        id: code,
        shortDescription: { text: rule.about },
        help: { text: rule.hint },
        defaultConfiguration: { level: LEVELS[rule.strict] },
      };
    }),
    results: diagnostics.map((diagnostic) => ({
      ruleId: diagnostic.code,
      ruleIndex: used.indexOf(diagnostic.code),
      level: LEVELS[diagnostic.severity],
      message: { text: `${diagnostic.message}. ${diagnostic.hint}` },
      locations: sarifLocations(location(diagnostic.path, base), diagnostic),
    })),
  });
}

function location(file: string, base: string): object {
  const relative = path.relative(base, file);
  if (relative.startsWith('..') || path.isAbsolute(relative)) return { uri: pathToFileURL(file).href };
  return { uri: relative.split(path.sep).map(encodeURIComponent).join('/'), uriBaseId: '%SRCROOT%' };
}
