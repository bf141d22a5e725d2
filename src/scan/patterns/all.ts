import type { Pattern } from '../pattern.ts';
import { CAPABILITY_PATTERNS } from './capabilities.ts';
import { CHINESE_PATTERNS } from './chinese.ts';
import { CONTEXTUAL_PATTERNS } from './contextual.ts';
import { CONTROL_PATTERNS } from './control.ts';
import { DAMAGE_PATTERNS } from './damage.ts';
import { FLOW_END_PATTERNS } from './flow-ends.ts';
import { LEAK_PATTERNS } from './leaks.ts';
import { USER_DECEPTION_PATTERNS } from './user-deception.ts';
import { RUNNING_PATTERNS } from './running.ts';
import { SECRET_PATTERNS } from './secrets.ts';

export const PATTERNS: readonly Pattern[] = [
  ...RUNNING_PATTERNS,
  ...SECRET_PATTERNS,
  ...CONTROL_PATTERNS,
  ...DAMAGE_PATTERNS,
  ...CONTEXTUAL_PATTERNS,
  ...USER_DECEPTION_PATTERNS,
  ...CHINESE_PATTERNS,
  ...FLOW_END_PATTERNS,
  ...LEAK_PATTERNS,
  ...CAPABILITY_PATTERNS,
];
