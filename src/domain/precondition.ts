// What must hold of a record for a request to be carried out (RFC 9110 §13): its version, which is the number of
// the change that made it.

export type Versions = '*' | number[];

export interface Precondition {
  /** It has one of these versions; `*` is any. */
  ifMatch?: Versions | undefined;
  /** It has none of these versions; `*` is any. */
  ifNoneMatch?: Versions | undefined;
}

/** `seq` is undefined where there is no record. */
export function preconditionHolds({ ifMatch, ifNoneMatch }: Precondition, seq: number | undefined): boolean {
  if (ifMatch !== undefined && !isAmong(ifMatch, seq)) return false;
  return ifNoneMatch === undefined || !isAmong(ifNoneMatch, seq);
}

function isAmong(versions: Versions, seq: number | undefined): boolean {
  if (seq === undefined) return false;
  return versions === '*' || versions.includes(seq);
}
