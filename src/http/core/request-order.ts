// Which requests of a connection are handled, and when, if the client sends them without waiting for responses
// (pipelining). Requests that may not start yet are queued. When too many are, no more are parsed: those that are queued get
// their responses, and the connection is closed.

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { nextEventLoopTurn } from '../../lib/event-loop-turns.ts';
import type { Incoming } from './buffered-request.ts';
import { isClosing, resumeReading } from './connection.ts';
import { holdReading, stopParsing } from './paused-reading.ts';
import type { Route } from './route.ts';

/** Requests of one connection without a response. */
const MAX_IN_PROGRESS = 32;
/** A queued request of a few bytes takes 3 KB. */
const MAX_QUEUED_OF_ONE = 1024;
/** Behind a response that may take very long, or never end. */
const MAX_QUEUED_BEHIND_LONG = 32;
/** Of all connections. */
const MAX_QUEUED = 8192;

interface Exchange {
  raw: Incoming;
  response: ServerResponse;
}

/** The requests of one connection. */
interface Line {
  socket: Socket;
  inProgress: number;
  /** One of those in progress: it is either alone, or all of them may run concurrently. */
  newest: Incoming | undefined;
  queued: Exchange[];
  /** What is in progress may take very long. */
  isLong: boolean;
  isHeld: boolean;
  isStarting: boolean;
}

const LINE = Symbol('line');

export interface RequestOrder {
  /** Starts a request now, or when its turn has come. */
  add(raw: Incoming, response: ServerResponse): void;
  /** Call for a request without a body whose response may take very long: until then nothing behind it is even read. */
  holdOthers(raw: Incoming): void;
  /** Call when the response has left, or will not. */
  finish(raw: Incoming): void;
  /** True if the client has sent more requests on this connection already. */
  hasQueued(raw: Incoming): boolean;
}

let queuedOfAll = 0;

/**
 * Requests to a route that is `isConcurrent` run together with others of the kind. All others start when each request
 * before them has its response, and nothing starts behind them until they have theirs.
 */
export function createRequestOrder(
  routeOf: (raw: Incoming) => Route | undefined,
  start: (raw: Incoming, response: ServerResponse) => void,
): RequestOrder {
  return {
    add(raw, response) {
      const line = lineOf(raw.socket);
      if (line.queued.length === 0 && mayStart(line, raw)) begin(line, raw, response);
      else queue(line, raw, response);
      if (!line.isHeld && !mayRead(line)) hold(line);
    },
    holdOthers({ socket }) {
      const line = lineOf(socket);
      line.isLong = true;
      if (line.queued.length > MAX_QUEUED_BEHIND_LONG) socket.destroy();
      else if (!line.isHeld) hold(line);
    },
    finish({ socket }) {
      const line = lineOf(socket);
      line.inProgress--;
      line.isLong = false;
      if (line.queued.length > 0) void startQueued(line);
      else if (line.isHeld) goOn(line);
    },
    hasQueued: ({ socket }) => lineOf(socket).queued.length > 0,
  };

  function mayStart({ inProgress, newest }: Line, raw: Incoming): boolean {
    if (inProgress === 0 || !newest) return true;
    return inProgress < MAX_IN_PROGRESS && isConcurrent(newest) && isConcurrent(raw);
  }

  /** Behind a request that asks for another protocol Node leaves bytes out, so that what follows may be the middle of one. */
  function isConcurrent(raw: Incoming): boolean {
    return raw.headers.upgrade === undefined && routeOf(raw)?.isConcurrent === true;
  }

  function begin(line: Line, raw: Incoming, response: ServerResponse): void {
    line.inProgress++;
    line.newest = raw;
    start(raw, response);
  }

  function queue(line: Line, raw: Incoming, response: ServerResponse): void {
    raw.holdBody();
    line.queued.push({ raw, response });
    queuedOfAll++;
    const isBehindLong = line.isLong && line.queued.length > MAX_QUEUED_BEHIND_LONG;
    if (isBehindLong) line.socket.destroy();
    if (isBehindLong || line.queued.length >= MAX_QUEUED_OF_ONE || queuedOfAll >= MAX_QUEUED) stopParsing(line.socket);
  }

  /** One turn of the event loop for each: they may be long lists. */
  async function startQueued(line: Line): Promise<void> {
    if (line.isStarting) return;
    line.isStarting = true;
    await nextEventLoopTurn();
    line.isStarting = false;
    if (isClosing(line.socket)) dropQueued(line);
    for (let [first] = line.queued; first && mayStart(line, first.raw); [first] = line.queued) {
      line.queued.shift();
      queuedOfAll--;
      begin(line, first.raw, first.response);
    }
    goOn(line);
  }

  function goOn(line: Line): void {
    if (!line.isHeld || !mayRead(line)) return;
    line.isHeld = false;
    resumeReading(line.socket);
  }
}

function lineOf(socket: Socket & { [LINE]?: Line }): Line {
  socket[LINE] ??= createLine(socket);
  return socket[LINE];
}

function createLine(socket: Socket): Line {
  const line: Line = {
    socket,
    inProgress: 0,
    newest: undefined,
    queued: [],
    isLong: false,
    isHeld: false,
    isStarting: false,
  };
  socket.once('close', () => dropQueued(line));
  return line;
}

function mayRead({ queued, inProgress, isLong }: Line): boolean {
  return queued.length === 0 && inProgress < MAX_IN_PROGRESS && !isLong;
}

function hold(line: Line): void {
  line.isHeld = true;
  holdReading(line.socket);
}

function dropQueued(line: Line): void {
  for (const { raw } of line.queued) raw.dropBody();
  queuedOfAll -= line.queued.length;
  line.queued = [];
}
