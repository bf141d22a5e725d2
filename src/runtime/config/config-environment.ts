import { SETTINGS, nearest, printable, readSetting } from '#core';
import type { ConfigLayer, Setting } from './config-merge.ts';
import { SETTING_PREFIX, settingNames } from './environment-names.ts';

/** `SKILLWRIGHT_CATALOG_BUDGET_TOKENS` for `catalog.budget_tokens`. */
export function toVariableName({ path }: Setting): string {
  return SETTING_PREFIX + path.join('_').toUpperCase();
}

interface VariableProblem {
  readonly variable: string;
  readonly message: string;
  readonly hint: string;
}

export interface EnvironmentRead {
  readonly layers: readonly ConfigLayer[];
  readonly problems: readonly VariableProblem[];
}

/** Reads settings from environment variables; each variable is one layer. Empty variables are ignored. */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>): EnvironmentRead {
  const layers: ConfigLayer[] = [];
  const problems: VariableProblem[] = [];
  for (const name of [...settingNames(env)].sort()) {
    const read = readVariable(name, env[name] ?? '');
    if ('config' in read) layers.push(read);
    else problems.push(read);
  }
  return { layers, problems };
}

function readVariable(name: string, text: string): ConfigLayer | VariableProblem {
  const variable = printable(name);
  const setting = SETTINGS.find((candidate) => toVariableName(candidate) === name);
  if (setting === undefined) {
    const known = SETTINGS.map((candidate) => toVariableName(candidate).slice(SETTING_PREFIX.length));
    const [guess] = nearest(name.slice(SETTING_PREFIX.length), known, 1);
    return {
      variable,
      message: 'is not a setting',
      hint:
        guess === undefined
          ? 'remove it; run skillwright config --schema to see all settings'
          : `did you mean ${SETTING_PREFIX}${guess}?`,
    };
  }
  const read = readSetting(setting, text);
  return 'config' in read ? { layer: 'environment', where: name, config: read.config } : { variable, ...read };
}
