// Converts a statement to a query of the driver, which parses the columns of its result to exact types.

import pg from 'pg';

export interface Statement {
  text: string;
  values?: unknown[];
}

/** Parses int8 to bigint, int4 to number and bool to boolean. Other types stay text. */
const TYPES = {
  getTypeParser(oid: number): (text: string) => unknown {
    if (oid === pg.types.builtins.INT8) return BigInt;
    if (oid === pg.types.builtins.INT4) return Number;
    if (oid === pg.types.builtins.BOOL) return (text) => text === 't';
    return (text) => text;
  },
};

export function typed({ text, values }: Statement): pg.QueryConfig {
  return { text, ...(values && { values }), types: TYPES as pg.CustomTypesConfig };
}
