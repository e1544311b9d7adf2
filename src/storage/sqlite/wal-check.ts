// Whether a log was damaged. SQLite takes what stands before the first frame whose checksum is wrong, and forgets the
// rest without a word. After a power cut that is right: the rest was never synced. But a commit that another frame
// follows was synced before that frame was written, so nothing up to it can be wrong by itself.

import { closeSync, openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Its last bit, which is not set here, says in which order of bytes the checksums are. */
const MAGIC = 0x377f0682;

type Checksum = readonly [number, number];

/** As often as a command may be in the middle of a commit. */
const LOOKS = 10;

/** Gives the number of the first frame that is damaged, from 1 on; 0 is the header. */
export function findWalDamage(path: string, pageBytes: number): number | undefined {
  const file = openSync(path, 'r');
  try {
    let before: number | undefined;
    for (let look = 0; look < LOOKS; look++) {
      const damagedAt = readFrames(file, readHeader(file), pageBytes);
      if (damagedAt === undefined || damagedAt === before) return damagedAt;
      before = damagedAt; // or a command has just written there: then it is no longer so
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
    if (!isWhole) frame.copy(salts, 0, 8, 16); // they must be told by the frames
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
