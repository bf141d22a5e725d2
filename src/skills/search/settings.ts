/**
 * All parameters of the ranking. They were tuned by cross-validation over queries written by skill authors; most could be halved or
 * doubled without harm (docs/search.md has the figures).
 */
export const settings = {
  /** BM25F saturation: how quickly repeated terms stop counting. */
  saturation: 1,
  /** The weight of one occurrence in each field. `avoid` counts a little, because its words are related to the skill. */
  nameWeight: 1.5,
  useWeight: 1,
  avoidWeight: 0.25,
  bodyWeight: 0.35,
  /** Length normalization of description and body: 0 none, 1 full. */
  useLength: 0.2,
  bodyLength: 0.7,
  /** A term that occurs more often in one description or query is treated as keyword stuffing and counts once. */
  maxMentions: 12,
  /** How quickly words lose weight along a query: at 0.04 the 25th word has half the weight of the first. */
  fade: 0.04,
  /** How much a repeated word of a query gains: at 0.25 it has 1.17 times its weight if it occurs twice. */
  repetition: 0.25,
  /** The weights of words that are not in the query. */
  translationTrust: 0.8,
  synonymTrust: 0.5,
  typoTrust: 0.6,
  prefixTrust: 0.5,
  /** The bonus for matching the whole query. */
  coverage: 0.5,
  /** The bonus if one clause of the description, or the name, matches the query closely. */
  clauseWeight: 0.5,
  nameClauseWeight: 1,
  /** The number of top documents that are compared clause by clause. */
  candidates: 100,
};
