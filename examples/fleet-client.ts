/**
 * Submits a run to a fleet (`skillwright serve`), follows it, answers its questions and checks its record.
 *
 *     FLEET_URL=http://127.0.0.1:8787 FLEET_KEY=... node fleet-client.js "Sum up the orders"
 */
import { isSkillError } from 'skillwright';
import { openFleetClient } from 'skillwright/client';

const { FLEET_URL: url = 'http://127.0.0.1:8787', FLEET_KEY: key = '' } = process.env;
const [request = 'What is in orders.csv?'] = process.argv.slice(2);
const fleet = openFleetClient({ url, key });

try {
  // The same key returns the same run, so that a retry of this program does not start a second one.
  const { run } = await fleet.submit({ request, budget: { turns: 10 }, idempotencyKey: `example ${request}` });
  console.log(`submitted ${run}`);

  let state = await fleet.wait(run);
  while (state.state === 'waiting') {
    for (const question of await fleet.questions()) {
      if (question.run !== run) continue;
      console.log(`asked: ${JSON.stringify(question.question)}`);
      await fleet.answer(run, question.id, { verdict: 'no', note: 'nobody is here to approve it' });
    }
    state = await fleet.wait(run);
  }

  const signal = AbortSignal.timeout(60_000);
  for await (const { type } of fleet.events(run, { signal })) console.log(`- ${type}`);
  const { records } = await fleet.integrity(run);
  console.log(state.answer ?? state.reason);
  console.log(`${state.outcome ?? ''}, the record is ${records.map(({ status }) => status).join(', ')}`);
} catch (error) {
  if (!isSkillError(error)) throw error;
  console.error(`${error.code}: ${error.message}; ${error.hint}`);
  process.exitCode = 1;
}
