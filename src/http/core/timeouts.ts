// How long the service waits for its clients. Tests pass shorter times.

export const TIMEOUTS = {
  /** Time for the headers of a request. */
  headersMs: 10_000,
  /** Time for a body that is kept whole, and for each KiB of one that is streamed. */
  bodyMs: 10_000,
  /** Time for which an idle connection stays open. */
  keepAliveMs: 65_000,
  /** Time for the handshake of TLS. */
  handshakeMs: 10_000,
  /** Interval at which all connections are checked for slow clients. */
  checkMs: 2_000,
  /** Time within which a client must read 5 KiB of a response that waits for it. */
  unreadMs: 5_000,
  /** The same for an export, of which the system accepts a MiB at a time: even a good reader seems to stall. */
  unreadExportMs: 60_000,
  /** Time for a client that is still sending to read why its connection is closed: closing at once would reset it. */
  lingerMs: 1_000,
  /** Interval of the comment lines in an event stream that has no change to show. */
  eventKeepAliveMs: 15_000,
  /** Interval at which the files of the certificate are read. */
  certificateMs: 1_000,
  /** Time at a stop for which an idle connection may send one more request: a client that is just sending sees no reset. */
  lastRequestsMs: 500,
  /** Time after which a stop disconnects the clients that are still connected. */
  disconnectMs: 8_000,
};

export type Timeouts = typeof TIMEOUTS;
