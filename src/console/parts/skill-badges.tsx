import type { JSX } from 'preact';

import type { SkillRow } from '../../server/api/skills.ts';
import { t } from '../language.ts';
import { Badge } from './parts.tsx';

export function SkillBadges({ row }: { readonly row: SkillRow }): JSX.Element {
  return (
    <>
      {row.trusted ? null : <Badge tone="warning">{t('untrusted')}</Badge>}
      {row.errors > 0 ? (
        <Badge tone="bad">{t('{count} errors', { count: row.errors })}</Badge>
      ) : row.warnings > 0 ? (
        <Badge tone="warning">{t('{count} warnings', { count: row.warnings })}</Badge>
      ) : null}
      {row.state === 'auto' ? null : <Badge>{t(row.state)}</Badge>}
    </>
  );
}
