// Formats plants and changes for a terminal, to fit its width, with colours if it supports them.

import { styleText } from 'node:util';
import type { Change, PlantRecord } from '../../client/client.ts';
import { cutToWidth, displayWidth, toSafeText } from '../../lib/safe-text.ts';
import type { Output } from '../command-io.ts';
import { type Colour, type Column, toFields, toText, widthOf } from './table.ts';
import { timeToMinute, timeToSecond } from './time.ts';

const GAP = '  ';
const MIN_TEXT_WIDTH = 8;
const MAX_WORD_WIDTH = 20;
const ACTIONS = new Map<string, [Colour, string]>([
  ['plant.created', ['green', 'created']],
  ['plant.updated', ['yellow', 'updated']],
  ['plant.deleted', ['red', 'deleted']],
]);

export const PLANT_COLUMNS: Column<PlantRecord>[] = [
  { heading: 'ID', cell: ({ id }) => String(id) },
  { heading: 'NAME', cell: ({ name }) => name, minWidth: MIN_TEXT_WIDTH },
  { heading: 'TAG', cell: ({ tag }) => tag, minWidth: MIN_TEXT_WIDTH },
  { heading: 'UPDATED', cell: ({ updated }) => timeToMinute(updated), colour: () => 'dim', ifRoom: 1 },
];

/** Returns all fields of a plant, one per line. */
export function describePlant(
  { id, name, tag, created, updated }: PlantRecord,
  version: number,
  stream: Output,
): string {
  return toFields(
    [
      ['Id', String(id)],
      ['Name', name],
      ['Tag', tag],
      ['Created', timeToSecond(created)],
      ['Updated', timeToSecond(updated)],
      ['Version', String(version)],
    ],
    stream,
  );
}

/**
 * Returns a change as one line, with its author if one is given. It has no columns, because the widths of later changes
 * are unknown. On a narrow terminal it omits the author, then the time.
 */
export function describeChange({ seq, type, time, plant }: Change, stream: Output, author?: string): string {
  const [colour, word] = ACTIONS.get(type) ?? ['dim', toWord(type)]; // a newer server can send other types
  const tag = plant.tag === undefined ? '' : ` (${toText(plant.tag)})`;
  const text = toText(plant.name) + tag;
  const number = toWord(seq).padStart(6);
  const middle = `${styleText(colour, word, { stream })}${GAP}${plant.id}${GAP}`;
  const fixedWidth = displayWidth(number + GAP + word + GAP + String(plant.id) + GAP);
  const textWidth = Math.min(MIN_TEXT_WIDTH, displayWidth(text));
  let left = widthOf(stream) - fixedWidth;
  const add = (part: string): string => {
    if (left - displayWidth(part) < textWidth) return '';
    left -= displayWidth(part);
    return styleText('dim', part, { stream });
  };
  const when = add(`${timeToSecond(time)}${GAP}`);
  const by = author === undefined ? '' : add(`${GAP}by ${toWord(author)}`);
  const shown = cutToWidth(Math.max(1, left), text);
  return `${styleText('dim', number, { stream })}${GAP}${when}${middle}${shown}${by}\n`;
}

/** Returns a value of any type as a short text, because another kind of server can send it. */
function toWord(value: unknown): string {
  return cutToWidth(MAX_WORD_WIDTH, toSafeText(String(value)));
}
