import type { JSX } from 'preact';

import { t } from '../language.ts';

interface SettingsProps {
  readonly theme: string;
  readonly setTheme: (theme: string) => void;
  readonly language: string;
  readonly setLanguage: (language: string) => void;
}

export function Settings({ theme, setTheme, language, setLanguage }: SettingsProps): JSX.Element {
  return (
    <div class="settings">
      <select value={theme} aria-label={t('Theme')} onChange={({ currentTarget }) => setTheme(currentTarget.value)}>
        <option value="auto">{t('System')}</option>
        <option value="light">{t('Light')}</option>
        <option value="dark">{t('Dark')}</option>
      </select>
      <select
        value={language}
        aria-label={t('Language')}
        onChange={({ currentTarget }) => setLanguage(currentTarget.value)}
      >
        <option value="en">English</option>
        <option value="zh">中文</option>
      </select>
    </div>
  );
}
