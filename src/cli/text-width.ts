export { fitText, padText, textWidth } from '../core/text/text-width.ts';
