/** Theme and language of this browser. */
import type { JSX } from 'preact';

import { useStored } from '../hooks.ts';
import { firstLanguage, t } from '../language.ts';
import { Choice } from './fields.tsx';

/** Applies both to the document; returns the language and the fields that change them. */
export function useSettings(): readonly [language: string, fields: JSX.Element] {
  const [theme, setTheme] = useStored('theme', 'auto');
  const [language, setLanguage] = useStored('language', firstLanguage());
  document.documentElement.dataset['theme'] = theme;
  document.documentElement.lang = language === 'zh' ? 'zh' : 'en';
  const themes = [
    ['auto', t('System')],
    ['light', t('Light')],
    ['dark', t('Dark')],
  ] as const;
  const languages = [
    ['en', 'English'],
    ['zh', '中文'],
  ] as const;
  return [
    language,
    <div class="settings">
      <Choice label={t('Theme')} value={theme} change={setTheme} options={themes} />
      <Choice label={t('Language')} value={language} change={setLanguage} options={languages} />
    </div>,
  ];
}
