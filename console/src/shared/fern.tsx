// A fern, computed leaflet by leaflet: the only ornament of the console.

interface Props {
  /** Number of pairs of leaflets. */
  pairs: number;
  /** Side to which the frond bends. */
  bend?: 'right' | 'left';
  class?: string;
}

export function Fern({ pairs, bend = 'right', class: extra }: Props) {
  const curl = bend === 'right' ? 1 : -1;
  const box = bend === 'right' ? '12 8 92 232' : '-8 8 120 232';
  return (
    <svg class={extra ? `fern ${extra}` : 'fern'} viewBox={box} aria-hidden="true">
      <path class="stem" d={stem(curl)} />
      <path class="leaves" d={leaves(pairs, curl)} />
    </svg>
  );
}

type Point = [x: number, y: number];

/** Returns the point of the stem at `t`, from 0 at the ground to 1 at the tip. */
function pointAt(t: number, curl: number): Point {
  return [60 + curl * (34 * t * t - 6 * t), 238 - 226 * t];
}

function stem(curl: number): string {
  const [start, middle, end] = [0, 0.5, 1].map((t) => pointAt(t, curl)) as [Point, Point, Point];
  const bow = [0, 1].map(
    (axis) => 2 * (middle[axis] as number) - ((start[axis] as number) + (end[axis] as number)) / 2,
  );
  return `M${print(start)}Q${print(bow as Point)} ${print(end)}`;
}

function leaves(pairs: number, curl: number): string {
  const paths: string[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const t = 0.1 + (0.87 * pair) / (pairs - 1);
    const from = pointAt(t, curl);
    const next = pointAt(t + 0.01, curl);
    const direction = Math.atan2(next[1] - from[1], next[0] - from[0]);
    const length = 50 * Math.sin(Math.PI * Math.min(1, 0.2 + t * 0.82)) ** 0.9 * (1 - t * 0.42) + 2.5;
    for (const side of [-1, 1]) paths.push(leaflet(from, direction + side * (1.08 - 0.3 * t), length));
  }
  return paths.join('');
}

function leaflet(from: Point, angle: number, length: number): string {
  const width = length * 0.17 + 0.8;
  const along = (share: number): Point => [
    from[0] + length * share * Math.cos(angle),
    from[1] + length * share * Math.sin(angle),
  ];
  const belly = along(0.42);
  const aside: Point = [-Math.sin(angle) * width, Math.cos(angle) * width];
  const one: Point = [belly[0] + aside[0], belly[1] + aside[1]];
  const other: Point = [belly[0] - aside[0], belly[1] - aside[1]];
  return `M${print(from)}Q${print(one)} ${print(along(1))}Q${print(other)} ${print(from)}z`;
}

function print([x, y]: Point): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}
