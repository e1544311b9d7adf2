// What a load is: the same kind of request again and again, over connections that stay open. wrk.ts makes it.

/** Where nothing else is said. */
export const CONNECTIONS = 64;

/** The body of a create. */
export const PLANT = '{"id":{n},"name":"Monstera deliciosa {n}","tag":"tropical"}';

export interface Request {
  method: 'GET' | 'POST';
  /** In the path and the body `{n}` stands for the number of the request, which is the id of its plant. */
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export interface Load {
  url: string;
  request: Request;
  /** The number of its first request. */
  first: number;
  /** Numbers start over after so many. */
  wrapAfter?: number;
  /** Numbers are random below this. */
  randomBelow?: number;
  seconds: number;
  connections?: number;
  /** For files of its own. */
  folder: string;
}

export interface Loaded {
  /** Answered with 2xx. */
  answered: number;
  /** More than are answered where those under way at the end are cut off: nobody knows if they were stored. */
  sent: number;
  /** From the first request to the last answer. */
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
}
