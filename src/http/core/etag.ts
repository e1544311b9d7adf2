// ETags: the quoted number of the change that created a version.

import type { Versions } from '../../domain/precondition.ts';

export function etagOf(seq: number): string {
  return `"${seq}"`;
}

/** Reads If-Match or If-None-Match; undefined if malformed. Weak tags never match strongly (RFC 9110 §8.8.3.2). */
export function readEtags(text: string, weakToo: boolean): Versions | undefined {
  if (text.trim() === '*') return '*';
  const versions: number[] = [];
  const element = /[ \t]*(?:(W\/)?"([^"\0-\x20\x7f]*)"[ \t]*)?(,|$)/y; // an empty element is ignored
  while (element.lastIndex < text.length) {
    const [, weak, opaque = ''] = element.exec(text) ?? [];
    if (element.lastIndex === 0) return undefined;
    if (/^[1-9]\d{0,15}$/.test(opaque) && (weakToo || !weak)) versions.push(Number(opaque));
  }
  return versions;
}
