import type { JSX } from 'preact';

import { t } from '../language.ts';
import { line } from '../text.ts';
import type { PageData } from './data.ts';
import { RowsTable, Titled } from './marks.tsx';

/** Only where there are several skills; the verdict on a single one is that of the report. */
export function SkillVerdicts({
  verdict: { skills = [] },
}: {
  readonly verdict: PageData['verdict'];
}): JSX.Element | null {
  if (skills.length < 2) return null;
  return (
    <Titled title={t('Verdict on each skill')}>
      <RowsTable
        label={t('Verdict on each skill')}
        heads={['Skill', 'Verdict']}
        rows={skills.map(({ skill, title }) => ({ cells: [line(skill), line(title)] }))}
      />
    </Titled>
  );
}
