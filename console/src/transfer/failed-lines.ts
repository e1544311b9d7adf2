// The file of the lines that an import refused: the user fixes them there and imports it. It has the lines exactly as
// they were, without reasons: another cell would make a line with a comma too many look complete.

import type { FileType } from 'plant-store/client';
import type { FileHead, FileRecord } from './file-records.ts';

export function failedLinesFile(records: FileRecord[], { header }: Pick<FileHead, 'header'>, type: FileType): Blob {
  const names = header && { text: header.text.replace(/^"\n/, '"') }; // the place of a line "sep=" in a converted file
  const lines = [...(names ? [names] : []), ...records];
  return new Blob(
    lines.map(({ text }) => `${text}\n`),
    { type },
  );
}
