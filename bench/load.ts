// Describes a load: repeated requests of one kind over persistent connections. wrk.ts generates it.

/** Default number of connections. */
export const CONNECTIONS = 64;

/** The body of a create. */
export const PLANT = '{"id":{n},"name":"Monstera deliciosa {n}","tag":"tropical"}';

export interface Request {
  method: 'GET' | 'POST';
  /** `{n}` in the path and the body stands for the number of the request, which is the id of its plant. */
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export interface Load {
  url: string;
  request: Request;
  /** Number of the first request. */
  first: number;
  /** Count after which the numbers start over. */
  wrapAfter?: number;
  /** If set, the numbers are random below this value. */
  randomBelow?: number;
  seconds: number;
  connections?: number;
  /** Folder for temporary files. */
  folder: string;
}

export interface Loaded {
  /** Number of 2xx responses. */
  answered: number;
  /** Number of requests sent. Requests in flight at the end can exceed `answered`, and may or may not be stored. */
  sent: number;
  /** Rate from the first request to the last response. */
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
}
