// Timeouts and intervals of the HTTP server. Tests use shorter ones.

export const TIMEOUTS = {
  /** Timeout for the headers of a request. */
  headersMs: 10_000,
  /** Timeout for a buffered body, and for each KiB of a streamed body. */
  bodyMs: 10_000,
  /** Time for which an idle connection stays open. */
  keepAliveMs: 65_000,
  /** Timeout for the TLS handshake. */
  handshakeMs: 10_000,
  /** Interval at which all connections are checked for slow clients. */
  checkMs: 2_000,
  /** Time within which a client must read 5 KiB of a pending response. */
  unreadMs: 5_000,
  /**
   * The same time for an export. The operating system accepts it in chunks of 1 MiB, so even a fast reader seems to
   * stall.
   */
  unreadExportMs: 60_000,
  /**
   * Time for a client that is still sending to read the last response. An immediate close would reset the connection.
   */
  lingerMs: 1_000,
  /** Interval of the comment lines in an event stream without new changes. */
  eventKeepAliveMs: 15_000,
  /** Interval at which the certificate files are read. */
  certificateMs: 1_000,
  /** Time at a stop in which an idle connection may send one more request, so that a request in flight is not reset. */
  lastRequestsMs: 500,
  /** Time after which a stop disconnects the remaining clients. */
  disconnectMs: 8_000,
};

export type Timeouts = typeof TIMEOUTS;
