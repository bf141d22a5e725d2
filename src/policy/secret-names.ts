const MAX_ENTRY = 500;
/** A version range after the name is ignored. */
const DECLARED = /^env:\s*([A-Za-z_]\w{0,99})(?:\s*[<>=!~^].*|\s+\d.*)?$/i;

/** The variables that a skill declares in `requires` as `env:NAME`. Declaring one grants nothing. */
export function declaredSecrets(requires: readonly string[] = []): readonly string[] {
  const names = requires.flatMap((entry) => {
    const name = entry.length > MAX_ENTRY ? undefined : DECLARED.exec(entry.trim())?.[1];
    return name === undefined ? [] : [name];
  });
  return [...new Set(names)];
}
