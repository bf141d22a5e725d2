/** The page of an exported report: the report of the console without a server. */
import { render, type JSX } from 'preact';

import type { PageData } from './report/data.ts';
import { useSettings } from './parts/settings.tsx';
import { ReportView } from './report/report-view.tsx';
import { link, useRoute } from './route.ts';

function ReportFile({ data }: { readonly data: PageData }): JSX.Element {
  const [language, settings] = useSettings();
  const { segments } = useRoute();
  return (
    <main id="content" tabIndex={-1} class="report-file">
      <div class="page full" key={language}>
        <ReportView data={data} segments={segments} link={link} actions={settings} />
      </div>
    </main>
  );
}

const [app, text] = [document.querySelector('#app'), document.querySelector('#data')?.textContent];
if (app !== null && typeof text === 'string') {
  // The same program wrote the data and this script.
  const data: PageData = JSON.parse(text);
  app.replaceChildren();
  render(<ReportFile data={data} />, app);
  document.title = document.querySelector('h1')?.textContent ?? '';
  // For the benchmark: the time since the file was opened.
  document.documentElement.dataset['ready'] = String(performance.now());
}
