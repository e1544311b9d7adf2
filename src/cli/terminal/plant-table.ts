// Formats plants and changes for a terminal, in columns that fit its width, with colours if it supports them.

import { styleText } from 'node:util';
import type { Change, PlantRecord } from '../../client/client.ts';
import { cutToWidth, displayWidth, padToWidth, toSafeText } from '../../lib/safe-text.ts';
import type { Output } from '../command-io.ts';
import { shortTime, timeToSecond } from './table.ts';

const GAP = '  ';
const TIME_WIDTH = '2026-01-31 12:00Z'.length;
const MIN_TEXT_WIDTH = 8;
const MAX_AUTHOR_WIDTH = 20;
/** Minimum share of the tag in the width available for name and tag. */
const TAG_SHARE = 1 / 3;
const ACTIONS = new Map<string, ['green' | 'yellow' | 'red', string]>([
  ['plant.created', ['green', 'created']],
  ['plant.updated', ['yellow', 'updated']],
  ['plant.deleted', ['red', 'deleted']],
]);

/** Returns a function that formats one page. Columns can widen from page to page. The first page has the heading. */
export function createPlantTable(terminalWidth: number, stream: Output): (records: PlantRecord[]) => string {
  const widths = { id: 2, name: 4, tag: 3 };
  let isFirst = true;
  let hasTime = true;
  return (records) => {
    const rows = records.map(({ id, name, tag, updated }) => ({
      id: String(id),
      name: quotedIfEmpty(name),
      tag: tag === undefined ? '' : quotedIfEmpty(tag),
      updated: shortTime(updated, ''),
    }));
    for (const column of ['id', 'name', 'tag'] as const) {
      widths[column] = Math.max(widths[column], ...rows.map((row) => displayWidth(row[column])));
    }
    const withoutTime = terminalWidth - widths.id - 2 * GAP.length;
    hasTime &&= withoutTime - TIME_WIDTH - GAP.length >= 2 * MIN_TEXT_WIDTH;
    const left = hasTime ? withoutTime - TIME_WIDTH - GAP.length : withoutTime;
    const tagWidth = Math.min(widths.tag, Math.max(MIN_TEXT_WIDTH, Math.floor(left * TAG_SHARE), left - widths.name));
    const nameWidth = Math.min(widths.name, Math.max(MIN_TEXT_WIDTH, left - tagWidth));
    const cells = (id: string, name: string, tag: string) =>
      [padToWidth(widths.id, id), cutAndPad(nameWidth, name), cutAndPad(tagWidth, tag)].join(GAP) +
      (hasTime ? GAP : '');
    const heading = isFirst
      ? `${styleText('dim', `${cells('ID', 'NAME', 'TAG')}${hasTime ? 'UPDATED' : ''}`, { stream })}\n`
      : '';
    isFirst = false;
    const lines = rows.map(
      ({ id, name, tag, updated }) =>
        `${cells(id, name, tag)}${hasTime ? styleText('dim', updated, { stream }) : ''}\n`,
    );
    return heading + lines.join('');
  };
}

/** Returns all fields of a plant, one per line, without shortening them. */
export function describePlant(
  { id, name, tag, created, updated }: PlantRecord,
  version: number,
  stream: Output,
): string {
  const rows: [string, string | undefined][] = [
    ['Id', String(id)],
    ['Name', quotedIfEmpty(name)],
    ['Tag', tag === undefined ? undefined : quotedIfEmpty(tag)],
    ['Created', timeToSecond(created)],
    ['Updated', timeToSecond(updated)],
    ['Version', String(version)],
  ];
  return rows
    .filter(([, text]) => text !== undefined)
    .map(([label, text]) => `${styleText('dim', label.padEnd('Version'.length), { stream })}${GAP}${text}\n`)
    .join('');
}

/**
 * Returns a change as one line, with its author if one is given. It has no columns, because the widths of later changes
 * are unknown.
 */
export function describeChange(
  { seq, type, time, plant }: Change,
  terminalWidth: number,
  stream: Output,
  author?: string,
): string {
  const [colour, word] = ACTIONS.get(type) ?? ['dim', toSafeText(String(type))]; // a newer server can send other types
  const start = `${toSafeText(String(seq)).padStart(6)}${GAP}${timeToSecond(time)}${GAP}`;
  const id = String(plant.id);
  const tag = plant.tag === undefined ? '' : ` (${toSafeText(String(plant.tag))})`;
  const by = author === undefined ? '' : `${GAP}by ${cutToWidth(MAX_AUTHOR_WIDTH, toSafeText(String(author)))}`;
  const left = terminalWidth - displayWidth(start + word + id + by) - 2 * GAP.length;
  const text = cutToWidth(Math.max(MIN_TEXT_WIDTH, left), quotedIfEmpty(plant.name) + tag);
  return `${styleText('dim', start, { stream })}${styleText(colour, word, { stream })}${GAP}${id}${GAP}${text}${styleText('dim', by, { stream })}\n`;
}

function quotedIfEmpty(text: string): string {
  return text === '' ? '""' : toSafeText(String(text)); // another kind of server can send any type
}

function cutAndPad(width: number, text: string): string {
  return padToWidth(width, cutToWidth(width, text));
}
