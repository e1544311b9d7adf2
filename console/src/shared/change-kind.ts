// How the console shows the three types of changes.

import type { ChangeType } from 'plant-store/client';

interface ChangeKind {
  icon: string;
  label: string;
  /** Class of its badge. */
  tone: 'ok' | 'info' | 'bad';
  /** Class of its entry in a feed. */
  feed: 'added' | 'updated' | 'deleted';
  /** What a token did to the plant. */
  verb: string;
}

export const CHANGE_KINDS: Record<ChangeType, ChangeKind> = {
  'plant.created': { icon: 'plus', label: 'Added', tone: 'ok', feed: 'added', verb: 'added' },
  'plant.updated': { icon: 'pencil', label: 'Updated', tone: 'info', feed: 'updated', verb: 'changed' },
  'plant.deleted': { icon: 'trash', label: 'Deleted', tone: 'bad', feed: 'deleted', verb: 'deleted' },
};
