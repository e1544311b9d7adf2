// ETags: the quoted number of the change that created a version.

import type { Versions } from '../../domain/precondition.ts';

export function etagOf(seq: number): string {
  return `"${seq}"`;
}

/**
 * Reads If-Match or If-None-Match; undefined if malformed. A weak tag counts like a strong one, because a proxy that
 * compresses weakens it on the way. The comparison stays exact: each version of a record has its own number.
 */
export function readEtags(text: string): Versions | undefined {
  if (text.trim() === '*') return '*';
  const versions: number[] = [];
  const element = /[ \t]*(?:(?:W\/)?"([^"\0-\x20\x7f]*)"[ \t]*)?(,|$)/y; // an empty element is ignored
  while (element.lastIndex < text.length) {
    const [, opaque = ''] = element.exec(text) ?? [];
    if (element.lastIndex === 0) return undefined;
    if (/^[1-9]\d{0,15}$/.test(opaque)) versions.push(Number(opaque));
  }
  return versions;
}
