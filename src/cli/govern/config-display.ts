import type { Config } from '../../core/config/config.ts';
import { isSteering } from '../../core/config/project-override-rules.ts';
import type { ExplainedValue, LayerValue } from '../../core/config/config-merge.ts';
import { withValue } from '../../core/config/config-settings.ts';
import { isObject } from '../../core/json/json-schema.ts';

const HIDDEN = '[hidden]';

/** A configuration as it may be shown: headers and what is named like a key belong on no screen and in no report. */
export function shownConfig(config: Config): Config {
  const paths = [
    ...Object.keys(config.telemetry?.headers ?? {}).map((name) => ['telemetry', 'headers', name]),
    ...plainServerValues(config),
    ...Object.entries(config.model?.params ?? {})
      .filter(([name, value]) => isSteering(name, value))
      .map(([name]) => ['model', 'params', name]),
  ];
  return paths.reduce((shown, path) => withValue(shown, path, HIDDEN), config);
}

/** Texts in the environment and the headers of MCP servers; sources of secrets are shown. */
function plainServerValues({ mcp_servers: servers = {} }: Config): readonly (readonly string[])[] {
  return Object.entries(servers).flatMap(([server, { env = {}, headers = {} }]) =>
    Object.entries({ env, headers }).flatMap(([part, values]) =>
      Object.entries(values).flatMap(([name, value]) =>
        typeof value === 'string' ? [['mcp_servers', server, part, name]] : [],
      ),
    ),
  );
}

/** The same for one explained value. Where secrets of skills come from is shown; that is no secret. */
export function shownValue(row: ExplainedValue): ExplainedValue {
  const shown = <S extends LayerValue>(said: S): S =>
    isHidden(row.key, said.value) ? { ...said, value: HIDDEN } : { ...said, value: shownServer(row.key, said.value) };
  return { ...shown(row), also: row.also.map(shown), overridden: row.overridden.map(shown) };
}

function shownServer(key: string, value: unknown): unknown {
  if (!key.startsWith('mcp_servers.') || !isObject(value)) return value;
  const hide = (values: unknown): unknown =>
    isObject(values)
      ? Object.fromEntries(Object.entries(values).map(([name, one]) => [name, typeof one === 'string' ? HIDDEN : one]))
      : values;
  return {
    ...value,
    ...('env' in value ? { env: hide(value['env']) } : {}),
    ...('headers' in value ? { headers: hide(value['headers']) } : {}),
  };
}

function isHidden(key: string, value: unknown): boolean {
  const params = 'model.params.';
  return (
    key.startsWith('telemetry.headers.') || (key.startsWith(params) && isSteering(key.slice(params.length), value))
  );
}
