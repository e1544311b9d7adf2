// Detects a damaged WAL. SQLite uses the frames before the first wrong checksum and silently discards the rest. After a
// power cut that is correct: the rest was never synced. But a commit is synced before the next frame is written. So a
// wrong checksum at or before a commit that another frame follows means damage.

import { closeSync, openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** The magic number without its last bit, which selects the byte order of the checksums. */
const MAGIC = 0x377f0682;

type Checksum = readonly [number, number];

/** Maximum number of reads of the WAL. A command may be in the middle of a commit during each read. */
const MAX_READS = 10;

/** Returns the number of the first damaged frame, counted from 1, or 0 for the header. */
export function findWalDamage(path: string, pageBytes: number): number | undefined {
  const file = openSync(path, 'r');
  try {
    let before: number | undefined;
    for (let reads = 0; reads < MAX_READS; reads++) {
      const damagedAt = readFrames(file, readHeader(file), pageBytes);
      if (damagedAt === undefined || damagedAt === before) return damagedAt;
      before = damagedAt; // a command may be writing there: only damage that a second read confirms counts
    }
    return undefined;
  } finally {
    closeSync(file);
  }
}

function readHeader(file: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  readSync(file, header, 0, HEADER_BYTES, 0);
  return header;
}

function readFrames(file: number, header: Buffer, pageBytes: number): number | undefined {
  const magic = header.readUInt32BE(0);
  const isMagic = (magic & ~1) === MAGIC;
  const bigEndian = isMagic ? (magic & 1) === 1 : endianness() === 'BE';
  const isWhole = isMagic && isSame(addTo([0, 0], header.subarray(0, 24), bigEndian), checksumAt(header, 24));
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + pageBytes);
  const salts = Buffer.from(header.subarray(16, 24));
  let last = checksumAt(header, 24);
  let brokenAt = isWhole ? undefined : 0;
  let afterCommit = false;
  for (
    let at = 1;
    readSync(file, frame, 0, frame.length, HEADER_BYTES + (at - 1) * frame.length) === frame.length;
    at++
  ) {
    const isOfThisLog = frame.compare(salts, 0, 8, 8, 16) === 0;
    const checksum = checksumAt(frame, 16);
    const head = addTo(last, frame.subarray(0, 8), bigEndian);
    const follows = isOfThisLog && isSame(addTo(head, frame.subarray(FRAME_HEADER_BYTES), bigEndian), checksum);
    if (!follows) brokenAt ??= at;
    else if (afterCommit) return brokenAt;
    if (!isWhole) frame.copy(salts, 0, 8, 16); // a damaged header has no valid salts, so the frames provide them
    const isCommit = frame.readUInt32BE(4) !== 0;
    afterCommit = brokenAt !== undefined && isCommit && (isOfThisLog || !isWhole);
    last = checksum;
  }
  return undefined;
}

function checksumAt(bytes: Buffer, at: number): Checksum {
  return [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];
}

function isSame(one: Checksum, other: Checksum): boolean {
  return one[0] === other[0] && one[1] === other[1];
}

function addTo([first, second]: Checksum, bytes: Buffer, bigEndian: boolean): Checksum {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let [a, b] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + words.getUint32(at, !bigEndian) + b) >>> 0;
    b = (b + words.getUint32(at + 4, !bigEndian) + a) >>> 0;
  }
  return [a, b];
}
