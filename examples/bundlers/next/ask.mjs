// Starts the server whose command is in the arguments, prints what it reports, and ends it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

const free = createServer().listen(0);
await once(free, 'listening');
const { port } = free.address();
free.close();
const [program, ...words] = process.argv.slice(2);
const env = { ...process.env, PORT: String(port) };
const child = spawn(process.execPath, [program, ...words], { env, stdio: ['ignore', 'ignore', 'inherit'] });
try {
  const answer = await ask(Date.now() + 60_000);
  console.log(await answer.text());
} finally {
  child.kill();
}

/** Asks until the server listens. */
async function ask(deadline) {
  try {
    return await fetch(`http://127.0.0.1:${port}/report`);
  } catch (error) {
    if (Date.now() > deadline) throw error;
    await new Promise((resolve) => setTimeout(resolve, 300));
    return ask(deadline);
  }
}
