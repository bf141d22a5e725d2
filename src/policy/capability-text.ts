import type { Decision } from '#core';

type Capability = NonNullable<Decision['capabilities']>[number];

/** Said of a program without any capability. */
export const CONTAINED = 'contained: isolated, no network, no secrets, no write access to your files';

const LABELS: Readonly<Record<Capability['name'], string>> = {
  project_write: 'may change, create and delete files in',
  network: 'may reach',
  secrets: 'gets the secrets',
  weak_isolation:
    'weaker isolation (landlock): it sees your processes and the dates of your files, and can change their permissions',
  no_isolation: 'no isolation: it can do everything that you can do',
};

/** What a capability means, without the folders, hosts or names. */
export function capabilityLabel({ name }: Capability): string {
  return LABELS[name];
}

/** Everything that a program reaches, in one line. The names are not escaped. */
export function capabilityLine(capabilities: readonly Capability[]): string {
  if (capabilities.length === 0) return CONTAINED;
  const said = capabilities.map((each) =>
    [capabilityLabel(each), each.on.join(', ')].filter((part) => part !== '').join(' '),
  );
  return `not contained: ${said.join('; ')}`;
}
