export { fitText, padText, textWidth } from '../core/text-width.ts';
