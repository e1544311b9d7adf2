// Preconditions of requests on the version of a record (RFC 9110 §13). A version is the number of the change that
// created it.

export type Versions = '*' | number[];

export interface Precondition {
  /** The record must have one of these versions. `*` matches any version. */
  ifMatch?: Versions | undefined;
  /** The record must have none of these versions. `*` matches any version. */
  ifNoneMatch?: Versions | undefined;
}

/** True if the precondition holds for the version `seq`, which is undefined if the record does not exist. */
export function preconditionHolds({ ifMatch, ifNoneMatch }: Precondition, seq: number | undefined): boolean {
  if (ifMatch !== undefined && !isAmong(ifMatch, seq)) return false;
  return ifNoneMatch === undefined || !isAmong(ifNoneMatch, seq);
}

function isAmong(versions: Versions, seq: number | undefined): boolean {
  if (seq === undefined) return false;
  return versions === '*' || versions.includes(seq);
}
