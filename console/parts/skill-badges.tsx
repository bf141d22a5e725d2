import type { JSX } from 'preact';

import type { Answers } from '#server/api';
import { counted, t } from '../language.ts';
import { Badge } from './parts.tsx';

export function SkillBadges({ row }: { readonly row: Answers['/skills']['skills'][number] }): JSX.Element {
  return (
    <>
      {row.trusted ? null : <Badge tone="warning">{t('untrusted')}</Badge>}
      {row.errors > 0 ? (
        <Badge tone="bad">{counted('{count} errors', row.errors)}</Badge>
      ) : row.warnings > 0 ? (
        <Badge tone="warning">{counted('{count} warnings', row.warnings)}</Badge>
      ) : null}
      {row.state === 'auto' ? null : <Badge>{t(row.state)}</Badge>}
    </>
  );
}
