/** A notification of the browser when a question appears while the person looks elsewhere. Only with the consent that the browser asks for. */
import { useEffect, useRef } from 'preact/hooks';

import { t } from './language.ts';
import { go, link } from './route.ts';

export type NoticeState = 'off' | 'on' | 'blocked' | 'absent';

export function noticeState(): NoticeState {
  if (!('Notification' in globalThis)) return 'absent';
  const { permission } = Notification;
  return permission === 'granted' ? 'on' : permission === 'denied' ? 'blocked' : 'off';
}

export async function allowNotices(): Promise<NoticeState> {
  if (noticeState() === 'off') await Notification.requestPermission();
  return noticeState();
}

interface Waiting {
  readonly approvals: number;
  /** The ids of all questions. */
  readonly questions: string;
}

/** Also tells in the title of the tab how many questions wait. */
export function useNotices(changes: Waiting | undefined): number {
  const waiting = changes?.approvals ?? 0;
  const questions = changes?.questions;
  const known = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (questions === undefined) return;
    const before = new Set(known.current?.split(' '));
    const isNew = known.current !== undefined && questions.split(' ').some((one) => one !== '' && !before.has(one));
    known.current = questions;
    if (!isNew || noticeState() !== 'on' || document.hasFocus()) return;
    const notice = new Notification(t('A run waits for your answer'), { tag: 'skillwright', icon: '/icon.svg' });
    notice.addEventListener('click', () => {
      focus();
      go(link('approvals'));
      notice.close();
    });
  }, [questions]);
  return waiting;
}
