import { TomlError, parse } from 'smol-toml';

import type { Problem } from '#core';

/** Parses TOML 1.0. A file that is not valid is a problem with its line, since a part of it is not what its author wrote. */
export function parseToml(text: string): Readonly<Record<string, unknown>> | Problem {
  try {
    return parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return {
      code: 'config/invalid',
      message: `line ${String(error.line)} is not valid TOML`,
      hint: 'correct the line',
    };
  }
}
