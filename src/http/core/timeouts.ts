// How long the service waits for its clients. Tests pass shorter times.

export interface Timeouts {
  /** Time for the headers of a request. */
  headersMs: number;
  /** Time for a body that is kept whole, and for each KiB of one that is streamed. */
  bodyMs: number;
  /** Time for which an idle connection stays open. */
  keepAliveMs: number;
  /** Time for the handshake of TLS. */
  handshakeMs: number;
  /** Interval at which all connections are checked for slow clients. */
  checkMs: number;
  /** Time within which a client must read 5 KiB of a response that waits for it. */
  unreadMs: number;
  /**
   * The same for an export. The system accepts a MiB of it at once, and no more until the client has read much of that:
   * even a good reader seems to stall.
   */
  unreadExportMs: number;
  /** Time for a client that is still sending to read why its connection is closed: closing at once would reset it. */
  lingerMs: number;
  /** Interval of the comment lines in an event stream that has no change to show. */
  eventKeepAliveMs: number;
  /** Interval at which the files of the certificate are read. */
  certificateMs: number;
  /** Time at a stop for which an idle connection may send one more request: a client that is just sending sees no reset. */
  lastRequestsMs: number;
  /** Time after which a stop disconnects the clients that are still connected. */
  disconnectMs: number;
}

export const TIMEOUTS: Timeouts = {
  headersMs: 10_000,
  bodyMs: 10_000,
  keepAliveMs: 65_000,
  handshakeMs: 10_000,
  checkMs: 2_000,
  unreadMs: 5_000,
  unreadExportMs: 60_000,
  lingerMs: 1_000,
  eventKeepAliveMs: 15_000,
  certificateMs: 1_000,
  lastRequestsMs: 500,
  disconnectMs: 8_000,
};
