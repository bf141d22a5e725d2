/** The built-in vocabularies. Apart from their tools, because the configuration schema names them. */
export const VOCABULARY_NAMES = ['skillwright', 'openseed', 'trpc', 'manusx', 'skills-agent'] as const;

export type VocabularyName = (typeof VOCABULARY_NAMES)[number];
