// What happens below a request: refusals of the HTTP parser, late clients, too many connections. Each is answered
// once, with an Error like all others, and the connection is closed.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TLSSocket, Server as TlsServer } from 'node:tls';
import { PlantStoreError, unavailable } from '../../domain/errors.ts';
import { STATUS_CODES } from '../../lib/lean-http.ts';
import type { Incoming } from './buffered-request.ts';
import type { CountConnection } from './connection-limits.ts';
import { toResponse } from './error-response.ts';
import { nextId } from './header-checks.ts';
import { holdReading, isReadingHeld, prepareHolds, releaseReading, STOPPED_CODE } from './paused-reading.ts';
import { HSTS } from './tls.ts';

export const MAX_HEADER_BYTES = 16 * 1024;
export const HEADERS_TIMEOUT_MS = 10_000;
export const BODY_TIMEOUT_MS = 10_000;
export const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** How often the time-outs are looked at. */
export const TIMEOUT_CHECK_MS = 2_000;
/** An answer of which less than this was read in so long, since that was noticed, is given up. */
const UNREAD_MS = 5_000;
const UNREAD_BYTES = 5 * 1024;
/** Of an export the system takes a MiB at once, and no more until much of it was read: so even a good reader seems to stand still. */
const UNREAD_EXPORT_MS = 60_000;
/**
 * Least rate at which an export is read, over all the time that it waits for its reader. What was read faster before
 * counts, up to a bound: the system takes pieces of a MiB and more.
 */
const EXPORT_BYTES_PER_S = 8 * 1024;
const EXPORT_GRACE_BYTES = 60 * EXPORT_BYTES_PER_S;
const EXPORT_MAX_CREDIT_BYTES = 2 * 1024 * 1024;
/** A client that is still sending gets so long to read why it is cut off: closing at once would reset it. */
const LINGER_MS = 1_000;
/** Turns of the event loop without a new connection; the first may end before it has looked for one. */
const QUIET_TURNS = 3;
/** Under a storm of new connections there is always one more. */
const TAKE_IN_MS = 500;

/** What is known of a connection. It is a member of its socket: to look it up in a map would take longer. */
const STATE = Symbol('state');

interface State {
  /** The newest request, answered or not. */
  newest?: IncomingMessage;
  /** When it began, if it has a body that may not be here yet. */
  bodySinceMs?: number | undefined;
  /** Since it was noticed that an answer waits to be read, and what was read of all answers until then. */
  unread?: { sinceMs: number; readBytes: number } | undefined;
  /** There are few export slots. `creditBytes` is how much it may still be behind the least rate. */
  newestExport?: { request: IncomingMessage; readBytes: number; creditBytes: number };
  /** How many requests came on it. */
  requests?: number;
  /** It was told `Connection: close` in answer to this one: nothing that came behind it may have an effect. */
  lastRequest?: number;
  /** It waits for earlier answers to be refused; the parser reports its fault again with every chunk. */
  isFaulty?: true;
  /** Node has reported that headers are late while nothing was read: since when it is read again. */
  headersSinceMs?: number | undefined;
  refusedWith?: number;
}

/** All that HTTP is spoken on. */
const open = new Set<Socket>();
/** Connections that have not said yet how they want to be encrypted, by whose they are. */
const handshakes = new Map<string, Socket>();

function stateOf(socket: Socket & { [STATE]?: State }): State {
  socket[STATE] ??= {};
  return socket[STATE];
}

export function guardConnections(server: Server, countConnection: CountConnection): void {
  // Who says "no more from me" still gets the answer. (Node's own switch, which its types leave out.)
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('connection', (socket: Socket) => {
    const refusal = countConnection(socket);
    if (server instanceof TlsServer) noteHandshake(socket);
    else noteOpen(socket);
    if (!refusal) return;
    if (server instanceof TlsServer)
      socket.destroy(); // it could not read an answer yet
    else refuse(socket, refusal);
  });
  server.on('secureConnection', (socket: Socket) => {
    handshakes.delete(peerOf(socket));
    noteOpen(socket);
  });
  const timer = setInterval(lookAtAll, TIMEOUT_CHECK_MS).unref();
  server.on('close', () => clearInterval(timer));
  server.on('timeout', (socket: Socket) => {
    if (!responseUnderWay(socket) && stateOf(socket).newest?.complete) socket.destroy(); // it was kept alive for long enough
  });
  server.on('clientError', onClientError);
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    inTurn(socket, () => refuse(socket, new PlantStoreError('no_such_path', 'This is not a proxy')));
  });
  // 100 Continue is sent when the body is wanted. Another expectation may be ignored (RFC 9110); Node's 417 has no body.
  for (const event of ['checkContinue', 'checkExpectation']) {
    server.on(event, (request: IncomingMessage, response: ServerResponse) => server.emit('request', request, response));
  }
}

function noteOpen(socket: Socket): void {
  open.add(socket);
  socket.on('close', () => open.delete(socket));
  prepareHolds(socket);
}

function noteHandshake(socket: Socket): void {
  const peer = peerOf(socket);
  handshakes.set(peer, socket);
  socket.on('close', () => {
    if (handshakes.get(peer) === socket) handshakes.delete(peer);
  });
}

function peerOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

/** For the end: http.Server does not know of them, and would wait. */
export function endHandshakes(): void {
  for (const socket of handshakes.values()) socket.destroy();
}

/** The status that a connection was refused with, if it was. */
export function refusedWith(socket: Socket): number | undefined {
  return stateOf(socket).refusedWith;
}

export function noteRequest(request: Incoming, nowMs: number): void {
  const { socket, headers } = request;
  const state = stateOf(socket);
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  state.newest = request;
  state.requests = (state.requests ?? 0) + 1;
  request.order = state.requests;
  request.hasBody = hasBody;
  state.bodySinceMs = hasBody ? nowMs : undefined;
  if (state.headersSinceMs !== undefined) state.headersSinceMs = undefined;
}

/** Undoes one `holdReading`. While nothing is read, the client's time does not run. */
export function resumeReading(socket: Socket): void {
  if (!releaseReading(socket)) return;
  const state = stateOf(socket);
  const nowMs = performance.now();
  if (state.bodySinceMs !== undefined) state.bodySinceMs = nowMs;
  if (state.headersSinceMs !== undefined) state.headersSinceMs = nowMs;
}

export function noteExport(request: IncomingMessage): void {
  const { socket } = request;
  stateOf(socket).newestExport = { request, readBytes: takenOf(socket), creditBytes: EXPORT_GRACE_BYTES };
}

let lookedMs = 0;

function lookAtAll(): void {
  const nowMs = performance.now();
  const wasStalled = nowMs - lookedMs > 2 * TIMEOUT_CHECK_MS;
  lookedMs = nowMs;
  if (wasStalled) return; // we stood still: what they have sent or read meanwhile is not known yet
  for (const socket of open) {
    const state = stateOf(socket);
    if (!isReadingHeld(socket) && isLate(state, nowMs)) onClientError(requestTimeout(), socket);
    // Here rather than for every request: a timer that each byte sets anew would cost a create 2 %.
    if (socket.writableLength > 0) lookAtUnread(socket, state, nowMs);
    else state.unread = undefined;
  }
}

function isLate(state: State, nowMs: number): boolean {
  const { newest, bodySinceMs = nowMs, headersSinceMs = nowMs } = state;
  return (nowMs - bodySinceMs > BODY_TIMEOUT_MS && !newest?.complete) || nowMs - headersSinceMs > HEADERS_TIMEOUT_MS;
}

/** Who reads a few bytes now and then is as slow as who reads none. */
function lookAtUnread(socket: Socket, state: State, nowMs: number): void {
  const readBytes = takenOf(socket);
  const { sinceMs = nowMs, readBytes: before = readBytes } = state.unread ?? {};
  const { newestExport } = state;
  const isExport = newestExport !== undefined && responseUnderWay(socket)?.req === newestExport.request;
  const withinMs = isExport ? UNREAD_EXPORT_MS : UNREAD_MS;
  if (isExport && isTooSlow(newestExport, readBytes)) socket.destroy();
  else if (nowMs - sinceMs < withinMs) state.unread ??= { sinceMs, readBytes };
  else if (readBytes - before < UNREAD_BYTES) socket.destroy();
  else state.unread = { sinceMs: nowMs, readBytes };
}

/** Called at each look that finds the export waiting for its reader. */
function isTooSlow(slot: NonNullable<State['newestExport']>, readBytes: number): boolean {
  const credit = Math.min(EXPORT_MAX_CREDIT_BYTES, slot.creditBytes + readBytes - slot.readBytes);
  slot.creditBytes = credit - (EXPORT_BYTES_PER_S * TIMEOUT_CHECK_MS) / 1000;
  slot.readBytes = readBytes;
  return slot.creditBytes < 0;
}

interface Handle {
  bytesWritten: number;
  writeQueueSize: number;
  /** Below the one of TLS, which does not know what becomes of its bytes. */
  _parent?: Handle;
}

/** What the other side, or the system for it, has taken: a long piece is taken bit by bit, which Node does not tell openly. */
function takenOf({ _handle }: Socket & { _handle?: Handle | null }): number {
  const handle = _handle?._parent ?? _handle;
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}

/** Its time is told by who reads it. */
export function noteLongBody({ socket }: IncomingMessage): void {
  stateOf(socket).bodySinceMs = undefined;
}

function requestTimeout(): NodeJS.ErrnoException {
  return Object.assign(new Error('The request did not arrive in time'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
}

export function requestTooLate(): PlantStoreError {
  return parserRefusal(requestTimeout());
}

/** False if the client has sent another one behind it already. */
export function isNewest(request: IncomingMessage): boolean {
  return stateOf(request.socket).newest === request;
}

/** It came behind one whose answer closes the connection. */
export function isTooLate({ socket, order }: Incoming): boolean {
  return order > (stateOf(socket).lastRequest ?? Number.POSITIVE_INFINITY);
}

/** Its last request is known: what was sent behind it is not handled. */
export function isClosing(socket: Socket): boolean {
  return stateOf(socket).lastRequest !== undefined;
}

/**
 * New connections are refused from now on. Those that have reached us are taken in first, or they would be reset;
 * those there are stay, where http.Server's own close would cut the idle ones off.
 */
export async function stopListening(server: Server): Promise<void> {
  let quietTurns = 0;
  server.on('connection', () => {
    quietTurns = 0;
  });
  const untilMs = performance.now() + TAKE_IN_MS;
  while (quietTurns < QUIET_TURNS && performance.now() < untilMs) {
    await nextTurn();
    quietTurns++;
  }
  NetServer.prototype.close.call(server);
}

/** For an answer that says `Connection: close` before the whole request was read. */
export function closeAfterAnswer(request: Incoming): void {
  const { socket } = request;
  holdReading(socket); // for good: what else is sent stays with the sender
  stateOf(socket).lastRequest ??= request.order;
  socket.destroySoon = () => linger(socket);
}

function linger(socket: Socket): void {
  socket.end();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.on('close', () => clearTimeout(timer));
}

function onClientError(error: NodeJS.ErrnoException & { reason?: string }, socket: Socket): void {
  const state = stateOf(socket);
  if (state.isFaulty) return;
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isReadingHeld(socket)) {
    state.headersSinceMs = Number.POSITIVE_INFINITY; // the rest of them may be here, but unread; Node says it once only
    return;
  }
  state.isFaulty = true;
  inTurn(socket, () => {
    if (state.lastRequest !== undefined) return; // it is behind the last response
    const answering = responseUnderWay(socket);
    const isGone = !socket.writable || error.code === 'ECONNRESET';
    if (isGone || isAnswered(socket, answering)) socket.destroy(error);
    else refuse(socket, parserRefusal(error));
  });
}

/** Good requests that came before are answered first. */
function inTurn(socket: Socket, work: () => void): void {
  const answering = responseUnderWay(socket);
  if (answering?.req.complete) answering.once('close', () => inTurn(socket, work));
  else work();
}

/** The fault is in the rest of a request that has its answer: a second one would be taken for somebody else's. */
function isAnswered(socket: Socket, answering: ServerResponse | undefined): boolean {
  return answering ? answering.headersSent : stateOf(socket).newest?.complete === false;
}

function responseUnderWay(socket: Socket): ServerResponse | undefined {
  // Node's own handler of this event looks at the same member; there is no public one.
  return (socket as Socket & { _httpMessage?: ServerResponse })._httpMessage ?? undefined;
}

function parserRefusal({ code, reason }: { code?: string; reason?: string }): PlantStoreError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new PlantStoreError(
        'request_timeout',
        `The request did not arrive in time: ${HEADERS_TIMEOUT_MS / 1000} s for its headers, ${BODY_TIMEOUT_MS / 1000} s for its body`,
      );
    case 'HPE_HEADER_OVERFLOW':
      return new PlantStoreError('headers_too_large', `The headers are over ${MAX_HEADER_BYTES} bytes, or too many`);
    case STOPPED_CODE:
      return unavailable('Too many requests were sent without waiting for responses: send at most 32 at once');
    default:
      return new PlantStoreError('malformed_request', `Not well-formed HTTP: ${reason ?? 'cannot be read'}`);
  }
}

/** Answers in the place of the HTTP server, and closes the connection. */
export function refuse(socket: Socket, error: PlantStoreError): void {
  const state = stateOf(socket);
  state.lastRequest = 0;
  const { status, headers, body } = toResponse(error);
  state.refusedWith = status;
  const text = JSON.stringify(body);
  const lines = Object.entries({
    ...headers,
    ...(socket instanceof TLSSocket && { 'strict-transport-security': HSTS }),
    connection: 'close',
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'x-content-type-options': 'nosniff',
    date: new Date().toUTCString(),
    'x-request-id': nextId(),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on('error', () => socket.destroy()); // it may be gone already
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`);
  linger(socket);
}
