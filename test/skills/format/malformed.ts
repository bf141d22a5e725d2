import type { Malformed } from './malformed-case.ts';
import { MALFORMED_FIELDS } from './malformed-fields.ts';
import { MALFORMED_YAML } from './malformed-yaml.ts';

export const MALFORMED: readonly Malformed[] = [...MALFORMED_YAML, ...MALFORMED_FIELDS];
