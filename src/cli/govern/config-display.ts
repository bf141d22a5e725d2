import type { Config } from '../../core/config/config.ts';
import { isSteering } from '../../core/config/project-override-rules.ts';
import type { ExplainedValue, SaidValue } from '../../core/config/config-merge.ts';
import { withValue } from '../../core/config/config-settings.ts';

const HIDDEN = '[hidden]';

/** A configuration as it may be shown: headers and what is named like a key belong on no screen and in no report. */
export function shownConfig(config: Config): Config {
  const paths = [
    ...Object.keys(config.telemetry?.headers ?? {}).map((name) => ['telemetry', 'headers', name]),
    ...Object.entries(config.model?.params ?? {})
      .filter(([name, value]) => isSteering(name, value))
      .map(([name]) => ['model', 'params', name]),
  ];
  return paths.reduce((shown, path) => withValue(shown, path, HIDDEN), config);
}

/** The same for one explained value. Where secrets of skills come from is shown; that is no secret. */
export function shownValue(row: ExplainedValue): ExplainedValue {
  const shown = <S extends SaidValue>(said: S): S =>
    isHidden(row.key, said.value) ? { ...said, value: HIDDEN } : said;
  return { ...shown(row), also: row.also.map(shown), overridden: row.overridden.map(shown) };
}

function isHidden(key: string, value: unknown): boolean {
  const params = 'model.params.';
  return (
    key.startsWith('telemetry.headers.') || (key.startsWith(params) && isSteering(key.slice(params.length), value))
  );
}
