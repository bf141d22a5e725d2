/** The language of the page: English, or Chinese. The text in English is the key. */
import { CHINESE } from './chinese.ts';

export function t(text: string, values: Readonly<Record<string, string | number>> = {}): string {
  const known = document.documentElement.lang === 'zh' ? CHINESE[text] : undefined;
  return (known ?? text).replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** A count with its noun: `{count} skill` for one, `{count} skills` for others. */
export function counted(text: string, count: number): string {
  const key = count === 1 && text.endsWith('s') ? text.slice(0, -1) : text;
  const known = document.documentElement.lang === 'zh' ? CHINESE[text] : undefined;
  return (known ?? key).replace('{count}', count.toLocaleString('en'));
}

export function firstLanguage(): string {
  return navigator.language.startsWith('zh') ? 'zh' : 'en';
}
