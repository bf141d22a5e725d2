import { countText, printable, type Diagnostic } from '#core';
import type { Style, Terminal } from '../terminal/terminal.ts';

const STYLES: Readonly<Record<Diagnostic['severity'], Style>> = { error: 'red', warning: 'yellow', info: 'dim' };

/** `path:line:column severity message code` with the hint on the next line; editors can parse it. */
export function diagnosticText(
  { path, line, column, severity, code, message, hint }: Diagnostic,
  { style, wrap }: Terminal,
): string {
  const place = `${printable(path)}:${String(line)}:${String(column)}`;
  const problem = `${place} ${style(STYLES[severity], severity)} ${message} ${style('dim', code)}`;
  return wrap(`${problem}\n    ${style('dim', printable(hint))}`, 4);
}

/** `3 errors, 1 warning`; empty without diagnostics. */
export function diagnosticCounts(diagnostics: readonly Diagnostic[]): string {
  const counts = (['error', 'warning', 'info'] as const).map((severity) => {
    const count = diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
    const noun = severity === 'info' ? 'remark' : severity;
    return count === 0 ? '' : countText(count, noun);
  });
  return counts.filter((text) => text !== '').join(', ');
}

/** A diagnostic as `--json` prints it, in a fixed order. */
export function diagnosticJson({ code, severity, path, line, column, message, hint, edit }: Diagnostic): object {
  return { code, severity, path, line, column, message, hint, edit };
}
