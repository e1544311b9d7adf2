// The theme and the row height. The browser keeps them for this origin.

import { useSyncExternalStore } from 'preact/compat';

type Setting = 'theme' | 'density' | 'letters';

const listeners = new Set<() => void>();

/** Shows the saved settings. Called before the first render, so that the page does not flash. */
export function applySettings(): void {
  const { dataset } = document.documentElement;
  for (const setting of ['theme', 'density'] as const) {
    const value = read(setting);
    if (value === undefined) delete dataset[setting];
    else dataset[setting] = value;
  }
}

export function useIsDark(): boolean {
  const theme = useSetting('theme');
  return (theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
}

export function toggleTheme(isDark: boolean): void {
  save('theme', isDark ? 'light' : 'dark');
}

export function useDensity(): 'comfortable' | 'compact' {
  return useSetting('density') === 'compact' ? 'compact' : 'comfortable';
}

export function setDensity(density: 'comfortable' | 'compact'): void {
  save('density', density);
}

/** False if the user switched off the shortcuts of single letters. */
export function hasLetterShortcuts(): boolean {
  return read('letters') !== 'off';
}

export function useLetterShortcuts(): boolean {
  return useSetting('letters') !== 'off';
}

export function setLetterShortcuts(isOn: boolean): void {
  save('letters', isOn ? 'on' : 'off');
}

function useSetting(setting: Setting): string | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => read(setting),
  );
}

function read(setting: Setting): string | undefined {
  return localStorage.getItem(`plant-store-${setting}`) ?? undefined;
}

function save(setting: Setting, value: string): void {
  localStorage.setItem(`plant-store-${setting}`, value);
  applySettings();
  for (const listener of listeners) listener();
}
