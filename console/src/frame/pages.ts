// The pages of the console: their titles, icons, shortcuts and required scopes.

import type { Scope } from 'plant-store/client';
import type { ViewName } from '../view.ts';

export interface Page {
  name: ViewName;
  title: string;
  icon: string;
  /** The letter after `G`. */
  letter: string;
  /** The page is shown to tokens with at least one of these scopes. */
  scopes: Scope[];
}

export const PAGES: Page[] = [
  { name: 'plants', title: 'Plants', icon: 'plants', letter: 'P', scopes: ['plants:read'] },
  { name: 'dashboard', title: 'Dashboard', icon: 'gauge', letter: 'D', scopes: ['plants:read'] },
  { name: 'activity', title: 'Activity', icon: 'activity', letter: 'A', scopes: ['plants:read'] },
  {
    name: 'transfer',
    title: 'Import and export',
    icon: 'transfer',
    letter: 'I',
    scopes: ['plants:read', 'plants:write'],
  },
  { name: 'tokens', title: 'Tokens', icon: 'key', letter: 'T', scopes: ['admin'] },
  { name: 'webhooks', title: 'Webhooks', icon: 'hook', letter: 'W', scopes: ['admin'] },
];

/** Pages under "Connect" in the navigation. */
export const CONNECT: ViewName[] = ['tokens', 'webhooks'];
