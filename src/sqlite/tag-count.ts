// How many plants have each tag, counted while they come by, in memory that is bounded however many tags there are: where
// they are too many, only a part of them is counted, and the plants have to come by once more for the others.

import { compareTags, MAX_TAGS, type TagCount } from '../summary.ts';

/** More of them take too long to look through in one go. */
const MAX_COUNTED = 50_000;
const MAX_CHARS = 8 * 1024 * 1024;

const MAX_PARTS = 2 ** 20;

/** The tags whose hash has this rest. */
interface Part {
  rest: number;
  of: number;
}

export interface TagCounts {
  add(tag: string): void;
  /** All have come by. True when they have to once more. */
  next(): boolean;
  top(): TagCount[];
}

export function createTagCounts(maxCounted = MAX_COUNTED, maxChars = MAX_CHARS): TagCounts {
  const left: Part[] = [];
  let part: Part = { rest: 0, of: 1 };
  let counts = new Map<string, number>();
  let chars = 0;
  let top: TagCount[] = [];

  return {
    add(tag) {
      if (!isOf(part, tag)) return;
      const known = counts.get(tag);
      counts.set(tag, (known ?? 0) + 1);
      if (known !== undefined) return;
      chars += tag.length;
      while ((counts.size > maxCounted || chars > maxChars) && part.of < MAX_PARTS) halve();
    },
    next() {
      top = [...top, ...best(counts)].sort(compareTags).slice(0, MAX_TAGS);
      counts = new Map();
      chars = 0;
      const next = left.pop();
      if (next) part = next;
      return next !== undefined;
    },
    top: () => top,
  };

  function halve(): void {
    left.push({ rest: part.rest + part.of, of: part.of * 2 });
    part = { rest: part.rest, of: part.of * 2 };
    chars = 0;
    for (const tag of counts.keys()) {
      if (isOf(part, tag)) chars += tag.length;
      else counts.delete(tag);
    }
  }
}

/** Only ever a few are sorted: of all that would take long. */
function best(counts: Map<string, number>): TagCount[] {
  let kept: TagCount[] = [];
  let worst: TagCount | undefined;
  for (const [tag, plants] of counts) {
    const count = { tag, plants };
    if (worst && compareTags(count, worst) > 0) continue;
    if (kept.push(count) < 4 * MAX_TAGS) continue;
    kept = kept.sort(compareTags).slice(0, MAX_TAGS);
    worst = kept.at(-1);
  }
  return kept;
}

function isOf({ rest, of }: Part, tag: string): boolean {
  return of === 1 || hashOf(tag) % of === rest;
}

/** FNV-1a, and mixed, since only the last bits count. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}
