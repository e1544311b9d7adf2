// What a view shows while it loads. It appears only after a moment, because most responses arrive sooner.

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const LATE_MS = 150;

export function Late({ children }: { children: ComponentChildren }) {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), LATE_MS);
    return () => clearTimeout(timer);
  }, []);
  return isLate ? children : null;
}
