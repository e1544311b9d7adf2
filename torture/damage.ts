// Ways to damage the files of a store: disk errors, truncated copies and editing mistakes.

import { readFileSync, writeFileSync } from 'node:fs';
import type { Random } from './random.ts';

const [PAGE, SECTOR, HEADER] = [4096, 512, 100];
const [WAL_HEADER, FRAME] = [32, 24 + PAGE];

/** Prefix of the plant names in the trial. */
const NAME = 'Plant ';

/** Changes the bytes in place, or returns other bytes. */
type Damage = (bytes: Buffer, random: Random) => Buffer;

const OF_FILE: Record<string, Damage> = {
  'a byte of the header': (bytes, random) => flip(bytes, random.below(HEADER), random),
  'the header': (bytes, random) => noise(bytes, 0, HEADER, random),
  'a bit': (bytes, random) => flip(bytes, random.below(bytes.length), random),
  'a letter of a name': (bytes, random) => {
    const at = random.pick(placesOf(bytes, NAME)) + random.below(NAME.length - 1);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    return bytes;
  },
  'some bytes': (bytes, random) => noise(bytes, random.below(bytes.length), 1 + random.below(64), random),
  'a sector of noise': (bytes, random) => noise(bytes, place(bytes, SECTOR, random), SECTOR, random),
  'a sector of zeros': (bytes, random) => zeros(bytes, place(bytes, SECTOR, random), SECTOR),
  'a page of noise': (bytes, random) => noise(bytes, place(bytes, PAGE, random), PAGE, random),
  'a page of zeros': (bytes, random) => zeros(bytes, place(bytes, PAGE, random), PAGE),
  'a page overwritten by another': (bytes, random) => {
    const from = place(bytes, PAGE, random);
    bytes.copy(bytes, place(bytes, PAGE, random), from, from + PAGE);
    return bytes;
  },
  truncated: (bytes, random) => bytes.subarray(0, random.below(bytes.length)),
  'truncated at a page boundary': (bytes, random) => bytes.subarray(0, place(bytes, PAGE, random)),
  'line endings converted': (bytes) => Buffer.from(bytes.toString('latin1').replaceAll('\n', '\r\n'), 'latin1'),
};

/** Damages the first half of the WAL only. A truncated WAL is indistinguishable from a WAL that was always shorter. */
const OF_LOG: Record<string, Damage> = {
  'the header of the WAL': (bytes, random) => noise(bytes, 0, WAL_HEADER, random),
  'a bit of the WAL': (bytes, random) => flip(bytes, random.below(early(bytes)), random),
  'a sector of the WAL': (bytes, random) =>
    noise(bytes, place(bytes.subarray(0, early(bytes)), SECTOR, random), SECTOR, random),
  'zeros in the WAL': (bytes, random) =>
    zeros(bytes, WAL_HEADER + FRAME * random.below(early(bytes) / FRAME - 1), FRAME),
};

export const DAMAGES = Object.keys({ ...OF_FILE, ...OF_LOG });

/** True if this kind damages the WAL and not the database file. */
export function isOfLog(kind: string): boolean {
  return kind in OF_LOG;
}

export function damage(path: string, kind: string, random: Random): void {
  const file = isOfLog(kind) ? `${path}-wal` : path;
  const change = { ...OF_FILE, ...OF_LOG }[kind] as Damage;
  writeFileSync(file, change(readFileSync(file), random));
}

function placesOf(bytes: Buffer, text: string): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) places.push(at);
  return places;
}
function early(bytes: Buffer): number {
  return bytes.length / 2;
}
function place(bytes: Buffer, size: number, random: Random): number {
  return size * random.below(Math.floor(bytes.length / size));
}
function flip(bytes: Buffer, at: number, random: Random): Buffer {
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
  return bytes;
}
function noise(bytes: Buffer, at: number, length: number, random: Random): Buffer {
  for (let n = at; n < Math.min(at + length, bytes.length); n++) bytes[n] = random.below(256);
  return bytes;
}
function zeros(bytes: Buffer, at: number, length: number): Buffer {
  return bytes.fill(0, at, at + length);
}
