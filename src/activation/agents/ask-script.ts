/**
 * The start of a plugin that runs in the process of an agent. It starts the script of the hook, as other agents do, instead of talking to the
 * socket itself: one client checks who owns the socket and keeps the deadline, and the plugin stays as small as the runtime of the agent allows.
 */
export function askScript(agent: string, script: string): string {
  return `// Written by skillwright activate; skillwright activate --remove deletes it.
import { spawn } from 'node:child_process';

/** Resolves with the text to add, empty without one, or if anything fails. */
function ask(input) {
  return new Promise((resolve) => {
    const child = spawn('sh', [${JSON.stringify(script)}, '${agent}'], { stdio: ['pipe', 'pipe', 'ignore'] });
    const chunks = [];
    const finish = (text) => {
      clearTimeout(timer);
      resolve(text);
    };
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      finish('');
    }, 500);
    child.on('error', () => finish(''));
    child.stdin.on('error', () => {});
    child.stdout.on('data', (chunk) => chunks.push(chunk));
    child.on('close', () => {
      try {
        finish(JSON.parse(Buffer.concat(chunks).toString('utf8')).additionalContext ?? '');
      } catch {
        finish('');
      }
    });
    child.stdin.end(JSON.stringify(input));
  });
}
`;
}
