// The pieces that plots are made of, as text of an SVG, and how numbers are written on them.

const FONT = 'system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif';

export const INK = '#1f2933';
export const FAINT = '#66727f';
export const GRID = '#e4e7eb';
export const ACCENT = '#2a7d4f';

export interface TextStyle {
  size?: number;
  fill?: string;
  anchor?: 'start' | 'middle' | 'end';
  weight?: number;
}

/** White, whatever the page behind it is. */
export function picture(width: number, height: number, description: string, parts: string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(description)}" font-family="${FONT}">`,
    `<rect width="${width}" height="${height}" rx="8" fill="#ffffff"/>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}

export function text(x: number, y: number, content: string, style: TextStyle = {}): string {
  const { size = 12, fill = INK, anchor = 'start', weight = 400 } = style;
  const halo = 'stroke="#ffffff" stroke-width="3" paint-order="stroke"'; // a line behind it does not cross it out
  return `<text x="${at(x)}" y="${at(y)}" font-size="${size}" fill="${fill}" text-anchor="${anchor}" font-weight="${weight}" ${halo}>${escaped(content)}</text>`;
}

export function line(x1: number, y1: number, x2: number, y2: number, stroke = GRID, width = 1): string {
  return `<line x1="${at(x1)}" y1="${at(y1)}" x2="${at(x2)}" y2="${at(y2)}" stroke="${stroke}" stroke-width="${width}"/>`;
}

export function bar(x: number, y: number, width: number, height: number, fill: string): string {
  return `<rect x="${at(x)}" y="${at(y)}" width="${at(width)}" height="${at(height)}" rx="2" fill="${fill}"/>`;
}

export function dot(x: number, y: number, fill: string): string {
  return `<circle cx="${at(x)}" cy="${at(y)}" r="3.5" fill="${fill}" stroke="#ffffff" stroke-width="1.5"/>`;
}

export function path(points: [number, number][], stroke: string, dashes = ''): string {
  const all = points.map(([x, y]) => `${at(x)},${at(y)}`).join(' ');
  return `<polyline points="${all}" fill="none" stroke="${stroke}" stroke-width="2"${dashes && ` stroke-dasharray="${dashes}"`}/>`;
}

export type Scale = (value: number) => number;

export function linear([from, to]: [number, number], [start, end]: [number, number]): Scale {
  return (value) => start + ((value - from) / (to - from)) * (end - start);
}

export function logarithmic([from, to]: [number, number], range: [number, number]): Scale {
  const scale = linear([Math.log10(from), Math.log10(to)], range);
  return (value) => scale(Math.log10(value));
}

/** From 0 to the first round number above `most`, three to six of them. */
export function roundTicks(most: number): number[] {
  const power = 10 ** Math.floor(Math.log10(most));
  const step = [0.2, 0.25, 0.5, 1, 2].map((n) => n * power).find((one) => most / one <= 5) ?? 2 * power;
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, n) => n * step);
}

/** 1, 10, 100 … that are not above `most`, the first one not above `least`. */
export function powersUpTo(most: number, least: number): number[] {
  const [first, last] = [Math.floor(Math.log10(least)), Math.floor(Math.log10(most))];
  return Array.from({ length: last - first + 1 }, (_, n) => 10 ** (first + n));
}

/** For axes: 10 k, 1 M, 0.25. */
export function short(value: number): string {
  if (value >= 1e6) return `${rounded(value / 1e6)} M`;
  return value >= 1000 ? `${rounded(value / 1000)} k` : rounded(value);
}

/** 12,800 or 71 or 0.42. */
export function exact(value: number): string {
  return value < 10 ? value.toFixed(2) : Math.round(value).toLocaleString('en');
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function at(pixels: number): string {
  return String(Number(pixels.toFixed(1)));
}

function escaped(content: string): string {
  return content.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
