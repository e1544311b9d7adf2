// Clients that operate on single records. Their calls and responses are recorded as histories.

import { Agent, request } from 'node:http';
import type { Event, Operation } from './history.ts';
import type { Random } from './random.ts';

export interface Recorder {
  /** Histories by plant id. */
  histories: Map<number, Event[]>;
  /** Performs one random operation. The history omits operations that certainly had no effect. */
  operate(server: { port: number; secret: string }, id: number): Promise<void>;
  read(server: { port: number; secret: string }, id: number): Promise<void>;
  close(): void;
}

/** Number of names. With 6, a create can be a replay, and a read still identifies the write that it returned. */
const NAMES = 6;

export function createRecorder(random: Random): Recorder {
  const histories = new Map<number, Event[]>();
  const agent = new Agent({ keepAlive: true });
  let moment = 0;

  return {
    histories,
    operate: (server, id) => record(server, id, random.pick(['create', 'put', 'delete', 'get', 'get'])),
    read: (server, id) => record(server, id, 'get'),
    close: () => agent.destroy(),
  };

  async function record(
    { port, secret }: { port: number; secret: string },
    id: number,
    kind: Operation['kind'],
  ): Promise<void> {
    const name = `name ${random.below(NAMES)} of ${id}`;
    const calledAt = moment++;
    const operation = toOperation(kind, name, await ask(port, secret, kind, id, name));
    if (!operation) return;
    const history = histories.get(id) ?? [];
    histories.set(id, history);
    history.push({ ...operation, calledAt, returnedAt: moment++ });
  }

  function ask(port: number, secret: string, kind: Operation['kind'], id: number, name: string): Promise<HttpOutcome> {
    const method = { create: 'POST', put: 'PUT', delete: 'DELETE', get: 'GET' }[kind];
    const body = { create: JSON.stringify({ id, name }), put: JSON.stringify({ name }), delete: '', get: '' }[kind];
    const headers = { authorization: `Bearer ${secret}`, ...(body && { 'content-type': 'application/json' }) };
    const path = kind === 'create' ? '/plants' : `/plants/${id}`;
    return new Promise((resolve) => {
      const onError = ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' ? 'refused' : 'unknown');
      const sent = request({ host: '127.0.0.1', port, method, path, headers, agent }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        response.on('error', onError);
        response.on('end', () => {
          const isReplay = response.headers['idempotent-replayed'] === 'true';
          resolve(response.complete ? { status: response.statusCode ?? 0, text, isReplay } : 'unknown');
        });
      });
      sent.on('error', onError);
      sent.end(body);
    });
  }
}

type HttpOutcome = { status: number; text: string; isReplay: boolean } | 'refused' | 'unknown';

function toOperation(kind: Operation['kind'], name: string, outcome: HttpOutcome): Operation | undefined {
  if (outcome === 'refused') return undefined;
  const isUnknown = outcome === 'unknown' || outcome.status === 503;
  if (kind === 'get' && isUnknown) return undefined;
  if (isUnknown)
    return kind === 'delete' ? { kind, outcome: 'unknown' } : { kind: kind as 'put', name, outcome: 'unknown' };
  const { status, text, isReplay } = outcome;
  switch (`${kind} ${status}`) {
    case 'create 200':
      return { kind: 'create', name, outcome: isReplay ? 'replayed' : 'created' };
    case 'create 400':
      return { kind: 'create', name, outcome: 'conflict' };
    case 'put 200':
      return { kind: 'put', name, outcome: 'stored' };
    case 'delete 204':
      return { kind: 'delete', outcome: 'deleted' };
    case 'delete 404':
      return { kind: 'delete', outcome: 'missing' };
    case 'get 200':
      return { kind: 'get', outcome: { name: JSON.parse(text).name } };
    case 'get 404':
      return { kind: 'get', outcome: 'missing' };
    default:
      throw new Error(`${kind} returned ${status} ${text}`);
  }
}
