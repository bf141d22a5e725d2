/** A proxy before the database on the loopback that breaks what passes through it, also at a chosen statement. */
import { createConnection, createServer, type Socket } from 'node:net';

/** A moment of the conversation with the database. */
export interface Moment {
  /** Text of a statement, or its name if it is prepared. */
  readonly statement: string;
  /** Before it is sent; after it was carried out, with its answer lost; or after the `commit` that follows it, with that answer lost. */
  readonly when: 'before' | 'after' | 'commit';
}

export interface DatabaseProxy {
  readonly url: string;
  /** Forwards nothing any more, and closes nothing: what a broken network does. */
  freeze(): void;
  thaw(): void;
  /** Forwards nothing on the connections that there are, for ever; new ones pass. */
  forget(): void;
  /** Closes all connections, and refuses new ones until `restore`. */
  cut(): void;
  restore(): void;
  /** Calls `act` at the next such moment. Nothing is forwarded on that connection any more. Returns a function that disarms it. */
  at(moment: Moment, act: () => void): () => void;
  /** Holds each such statement back for a while. */
  delay(statement: string, ms: number): void;
  close(): void;
}

interface Armed extends Moment {
  readonly act: () => void;
}

/** Time for a statement to be carried out whose answer is dropped. */
const CARRIED_OUT_MS = 50;
const COMMIT = Buffer.from('commit');

export async function openDatabaseProxy(database: string): Promise<DatabaseProxy> {
  const target = new URL(database);
  const sockets = new Set<Socket>();
  const forgotten = new Set<Socket>();
  let armed: Armed | undefined;
  let isFrozen = false;
  let isCut = false;
  let slow: { readonly statement: string; readonly ms: number } | undefined;
  const server = createServer((client) => {
    if (isCut) return void client.destroy();
    const upstream = createConnection(Number(target.port), target.hostname);
    let isBroken = false;
    let mayCommit: Armed | undefined;
    const fire = ({ act, when }: Armed, data: Buffer): void => {
      armed = undefined;
      isBroken = true;
      if (when === 'before') return act();
      upstream.write(data);
      setTimeout(act, CARRIED_OUT_MS);
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
        sockets.delete(socket);
      });
      if (isFrozen) socket.pause();
    }
    client.on('data', (data) => {
      if (isBroken) return;
      if (mayCommit !== undefined && mayCommit === armed && data.includes(COMMIT)) return fire(mayCommit, data);
      if (armed !== undefined && data.includes(armed.statement)) {
        if (armed.when !== 'commit') return fire(armed, data);
        mayCommit = armed;
      }
      if (slow !== undefined && data.includes(slow.statement)) {
        client.pause();
        setTimeout(() => {
          upstream.write(data);
          client.resume();
        }, slow.ms);
        return;
      }
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      if (!isBroken) client.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = new URL(database);
  url.port = String(typeof address === 'object' && address !== null ? address.port : 0);
  return {
    url: url.href,
    freeze() {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw() {
      isFrozen = false;
      for (const socket of sockets) socket.resume();
    },
    forget() {
      for (const socket of sockets) {
        socket.removeAllListeners('data');
        socket.pause();
        sockets.delete(socket);
        forgotten.add(socket);
      }
    },
    cut() {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    restore() {
      isCut = false;
    },
    at(moment, act) {
      const mine: Armed = { ...moment, act };
      armed = mine;
      return () => {
        if (armed === mine) armed = undefined;
      };
    },
    delay(statement, ms) {
      slow = { statement, ms };
    },
    close() {
      for (const socket of [...sockets, ...forgotten]) socket.destroy();
      server.close();
    },
  };
}
