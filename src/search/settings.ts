/**
 * Every number of the ranking, in one place. They were set by cross-validation over queries that skill authors wrote; most
 * could be half or double without harm (docs/search.md has the figures).
 */
export const settings = {
  /** BM25F: how soon a term that comes again and again stops counting. */
  saturation: 1,
  /** What one mention is worth in each field. A skill mentions in `avoid` what it is not for, but it is never far from it. */
  nameWeight: 1.5,
  useWeight: 1,
  avoidWeight: 0.25,
  bodyWeight: 0.2,
  /** How much a long description, or body, is held against each mention in it: 0 not at all, 1 in full. */
  useLength: 0.2,
  bodyLength: 0.7,
  /** A term said more often than this in one description is stuffed into it, and counts as if said once. */
  maxMentions: 12,
  /** How fast words lose weight along a query: at 0.04 the twenty-fifth is worth half of the first. */
  fade: 0.04,
  /** How far to trust words the user did not say. */
  translationTrust: 0.8,
  synonymTrust: 0.5,
  typoTrust: 0.6,
  prefixTrust: 0.5,
  /** What it adds to answer the whole query and not a part of it. */
  coverage: 0.5,
  /** What it adds when one clause of the description, or the name, is about just what was asked. */
  clauseWeight: 0.5,
  nameClauseWeight: 1,
  /** How many of the best documents are looked at clause by clause. */
  candidates: 100,
};
