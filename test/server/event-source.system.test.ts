import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import type { Model } from '../../src/core/model.ts';
import { createRunServer } from '../../src/server/run-server.ts';
import { answerOf, world } from '../agent/support.ts';
import { CHROMIUM, openChromium } from '../evals/page/chromium.ts';

if (CHROMIUM === undefined) console.log('skipping the EventSource test: chromium is not installed');

const TOKEN = 'a-token-of-the-test-alone';
const MODEL: Model = { id: 'quick', call: () => Promise.resolve(answerOf({ text: 'There are 42 rows.' }, 1)) };

/** Starts a run from a page and listens until it ends. */
const LISTEN = `(async () => {
  const token = ${JSON.stringify(TOKEN)};
  const answer = await fetch('/runs', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' },
    body: JSON.stringify({ request: 'count the rows' }),
  });
  const { events } = await answer.json();
  const heard = [];
  const source = new EventSource(events + '?token=' + token);
  return new Promise((resolve, reject) => {
    source.onerror = () => reject(new Error('the stream failed after ' + heard.length));
    for (const type of ['run-start', 'turn', 'model-answer', 'run-end'])
      source.addEventListener(type, ({ lastEventId, data }) => {
        heard.push([type, Number(lastEventId) > 0, JSON.parse(data).event.type]);
        if (type !== 'run-end') return;
        source.close();
        resolve(heard);
      });
  });
})()`;

describe.skipIf(CHROMIUM === undefined)('EventSource in a browser', () => {
  test('receives every event of a run, and nothing from another origin', async () => {
    const { runtime, project } = await world();
    const directory = path.join(project, '.agent', 'runs');
    const server = await createRunServer({ runtime, model: MODEL, directory, token: TOKEN });
    onTestFinished(() => server.close());
    const browser = await openChromium(CHROMIUM ?? '');
    onTestFinished(() => browser.close());
    const page = await browser.page();
    await page.send('Page.navigate', { url: `${server.url}/runs?token=${TOKEN}` });
    await expect.poll(() => page.evaluate('document.readyState + location.origin')).toBe(`complete${server.url}`);
    expect(await page.evaluate(LISTEN)).toEqual([
      ['run-start', true, 'run-start'],
      ['turn', true, 'turn'],
      ['model-answer', true, 'model-answer'],
      ['run-end', true, 'run-end'],
    ]);
    const stranger = await browser.page();
    const tried = `new Promise((resolve) => {
      const source = new EventSource(${JSON.stringify(`${server.url}/runs/x/events?token=${TOKEN}`)});
      source.onopen = () => resolve('open');
      source.onerror = () => resolve('refused');
    })`;
    expect(await stranger.evaluate(tried)).toBe('refused');
  });
});
