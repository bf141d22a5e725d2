import type { Config, Vocabulary } from '#core';
import type { planCatalog } from '#skills';
import { findProfile } from '#tools/profiles';

/** A format that the configuration sets, not the vocabulary of the configuration, beats the one of the session's vocabulary. */
export function chooseFormat(
  { catalog, vocabulary }: Config,
  { catalogFormat }: Vocabulary,
): Parameters<typeof planCatalog>[1]['format'] {
  const inherited = findProfile(vocabulary).settings?.catalog?.format;
  const own = catalog?.format === inherited ? undefined : catalog?.format;
  return own ?? catalogFormat ?? 'xml';
}
