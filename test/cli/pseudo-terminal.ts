import { spawn } from 'node:child_process';

import { PYTHON } from '../needs.ts';

/**
 * What is done at a terminal: keys are sent once a text has come on the screen, or after a while. A question ignores keys that come too
 * early, and a busy machine can be late to show it or to count: keys after a pause are sent again until something comes of them.
 */
export type Step =
  | { readonly until: string }
  | { readonly seconds: number }
  | { readonly keys: string }
  /** Marked as a paste if the program asked for marks, as terminals do. */
  | { readonly paste: string }
  /** An empty file is made, for which something else waits. */
  | { readonly touch: string }
  /** The window is closed; the last step. */
  | { readonly hangUp: true };

export interface Screen {
  readonly status: number;
  /** Without the requests for paste marks, which a terminal does not show. */
  readonly text: string;
  /** The requests to mark pastes (`h`) and to stop it (`l`), in order. */
  readonly pasteModes: string;
}

/** Python brings pseudo-terminals on every system we test on; Node has none of its own. */
const DRIVER = `
import json, os, pty, select, sys, time
words, steps, limit = json.loads(sys.argv[1])
AGAIN = 10
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(words[0], words)
seen, text, end = 0, b'', time.time() + limit
def read(seconds):
    global text
    ready, _, _ = select.select([terminal], [], [], max(0, seconds))
    if not ready:
        return True
    try:
        data = os.read(terminal, 65536)
    except OSError:
        return False
    text += data
    return len(data) > 0
for before, step in zip([{}, *steps], steps):
    if 'until' in step:
        wanted = step['until'].encode()
        while wanted not in text[seen:] and time.time() < end and read(0.1):
            pass
        seen = max(seen, text.find(wanted, seen) + len(wanted))
    elif 'seconds' in step:
        stop = time.time() + step['seconds']
        while time.time() < stop and read(stop - time.time()):
            pass
    elif 'paste' in step:
        isMarked = text.rfind(b'\\x1b[?2004h') > text.rfind(b'\\x1b[?2004l')
        marks = (b'\\x1b[200~', b'\\x1b[201~') if isMarked else (b'', b'')
        os.write(terminal, marks[0] + step['paste'].encode() + marks[1])
    elif 'touch' in step:
        open(step['touch'], 'w').close()
    elif 'hangUp' in step:
        os.close(terminal)
        terminal = None
    else:
        os.write(terminal, step['keys'].encode())
        length, again = len(text), time.time() + AGAIN
        while 'seconds' in before and len(text) == length and time.time() < end and read(0.1):
            if time.time() > again:
                os.write(terminal, step['keys'].encode())
                again = time.time() + AGAIN
while terminal is not None and time.time() < end and read(0.1):
    pass
ended, status = os.waitpid(pid, os.WNOHANG)
while ended == 0 and terminal is None and time.time() < end:
    time.sleep(0.05)
    ended, status = os.waitpid(pid, os.WNOHANG)
if ended == 0:
    if time.time() >= end:
        os.kill(pid, 9)
    _, status = os.waitpid(pid, 0)
code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
print(json.dumps({'status': code, 'text': text.decode('utf-8', 'replace')}))
`;

interface Surroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The program is killed after so many seconds. */
  readonly seconds?: number;
}

/** Runs a program at a terminal of its own. */
export function atTerminal(
  words: readonly string[],
  steps: readonly Step[],
  { cwd, env, seconds = 150 }: Surroundings,
): Promise<Screen> {
  const child = spawn(PYTHON, ['-c', DRIVER, JSON.stringify([words, steps, seconds])], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm', NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: (seconds + 20) * 1000,
  });
  let output = '';
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => {
      if (output === '') reject(new Error('the terminal gave nothing'));
      else resolve(screenOf(JSON.parse(output) as Omit<Screen, 'pasteModes'>));
    });
  });
}

function screenOf({ status, text }: Omit<Screen, 'pasteModes'>): Screen {
  const pasteModes = [...text.matchAll(PASTE_MODE)].map(([, mode]) => mode).join('');
  return { status, text: text.replaceAll(PASTE_MODE, ''), pasteModes };
}

const PASTE_MODE = /\u001B\[\?2004([hl])/g;
