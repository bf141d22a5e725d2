import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import type { EventRow } from '#server/api';
import { get } from '../client.ts';
import { useChunks } from '../hooks.ts';
import { t } from '../language.ts';
import { duration, line } from '../text.ts';
import { EventView } from './step-content.tsx';
import { ChunkList } from './virtual-list.tsx';

interface EventListProps {
  readonly id: string;
  readonly count: number;
  readonly isLive: boolean;
}

/** All events as one line each; five thousand scroll smoothly. */
export function EventList({ id, count, isLive }: EventListProps): JSX.Element {
  const [open, setOpen] = useState<number>();
  const chunks = useChunks<EventRow>(
    id,
    async (offset, limit, signal) => {
      const { rows } = await get('/runs/{id}/rows', { id, from: offset + 1, limit }, signal);
      return { items: rows, total: offset + rows.length };
    },
    count,
  );
  return (
    <div class="events">
      <ChunkList
        class="event-list"
        chunks={chunks}
        rowHeight={30}
        rowClass="event"
        label={t('Events')}
        isTail={isLive}
        row={(row) => (
          <button
            type="button"
            class={`event ${row.tone}`}
            aria-pressed={open === row.seq}
            onClick={() => setOpen(open === row.seq ? undefined : row.seq)}
          >
            <span class="faint seq">{row.seq}</span>
            <span class="faint time">{duration(row.at)}</span>
            <span class="kind">{row.type}</span>
            <span class="event-text">{line(row.text)}</span>
          </button>
        )}
      />
      {open === undefined ? null : (
        <div class="panel">
          <h3>{t('Event {number}', { number: open })}</h3>
          <EventView key={open} id={id} seq={open} />
        </div>
      )}
    </div>
  );
}
