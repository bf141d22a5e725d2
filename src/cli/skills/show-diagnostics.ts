import type { Severity } from '../../core/diagnostic-codes.ts';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { printable } from '../../core/text/text.ts';
import type { Style, Terminal } from '../terminal/terminal.ts';

const STYLES: Readonly<Record<Severity, Style>> = { error: 'red', warning: 'yellow', info: 'dim' };

/** `path:line:column severity code message` and the hint below it: what editors and people can read. */
export function diagnosticText(
  { path, line, column, severity, code, message, hint }: Diagnostic,
  { style }: Terminal,
): string {
  const place = `${printable(path)}:${String(line)}:${String(column)}`;
  return `${place} ${style(STYLES[severity], severity)} ${message} ${style('dim', code)}\n    ${style('dim', printable(hint))}`;
}

/** `3 errors, 1 warning`; empty where there is nothing. */
export function countText(diagnostics: readonly Diagnostic[]): string {
  const counts = (['error', 'warning', 'info'] as const).map((severity) => {
    const count = diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
    const noun = severity === 'info' ? 'remark' : severity;
    return count === 0 ? '' : `${String(count)} ${noun}${count === 1 ? '' : 's'}`;
  });
  return counts.filter((text) => text !== '').join(', ');
}

/** The JSON of a diagnostic: the contract of `--json`, in a fixed order. */
export function diagnosticJson({ code, severity, path, line, column, message, hint, edit }: Diagnostic): object {
  return { code, severity, path, line, column, message, hint, ...(edit === undefined ? {} : { edit }) };
}
