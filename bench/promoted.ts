// Measures how much garbage of creates V8 moves among its old objects, from the trace of its collector. The number depends
// little on the load and the machine. An object is promoted if it survives two collections of young objects. One that V8
// allocates among the old ones directly is not counted, but it keeps younger ones alive, which are then promoted.

import { join } from 'node:path';
import { addToken, LAUNCHER } from '../testing/launch.ts';
import { startProcess, toCreate } from './server.ts';
import { wrk } from './wrk.ts';

/** The same words in each name: the writer thread would remember new ones, which are no garbage. */
const SAME_WORDS = '{"id":{n},"name":"Monstera deliciosa","tag":"tropical"}';
/** A collection of one thread in V8's trace. */
const COLLECTION = /^\[\d+:0x[0-9a-f]+:\d+\] .* GC: (\{.*\})$/;

interface Collection {
  /** `s` is a collection of young objects. */
  gc: string;
  promoted: number;
}

/** Returns the promoted bytes per create of all threads together, or undefined if V8 collected nothing. */
export async function promotedPerCreate(folder: string, warmUpSeconds: number, seconds: number) {
  const databaseUrl = `sqlite:${join(folder, 'promoted.db')}`;
  const { secret } = await addToken(databaseUrl);
  const scavenges: Collection[] = [];
  const server = await startProcess(process.execPath, ['--trace-gc-nvp', LAUNCHER, 'serve'], {
    env: { PORT: '0', DATABASE_URL: databaseUrl },
    address: /"url":"([^"]+)"/,
    onLine(line) {
      const [, json] = COLLECTION.exec(line) ?? [];
      const collection = json === undefined ? undefined : (JSON.parse(json) as Collection);
      if (collection?.gc === 's') scavenges.push(collection);
    },
  });
  try {
    const load = { url: server.url, request: { ...toCreate(secret), body: SAME_WORDS }, folder };
    const { sent } = await wrk({ ...load, first: 1, seconds: warmUpSeconds });
    scavenges.length = 0;
    const { answered } = await wrk({ ...load, first: 1 + sent, seconds });
    if (scavenges.length === 0) return undefined;
    return scavenges.reduce((sum, { promoted }) => sum + promoted, 0) / answered;
  } finally {
    await server.stop();
  }
}
