// Prints sizes of files and disks.

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

/** Returns a size in its largest fitting unit, such as 92 KiB, 1.5 MiB or 20.3 GiB. */
export function toSize(bytes: number): string {
  if (bytes < MIB) return `${Math.ceil(bytes / KIB)} KiB`;
  const [size, unit] = bytes < GIB ? [bytes / MIB, 'MiB'] : [bytes / GIB, 'GiB'];
  return `${size.toLocaleString('en', { maximumFractionDigits: 1 })} ${unit}`;
}
