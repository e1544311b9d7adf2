// Parses server-sent events (HTML standard, §9.2.6) from chunks of any size.

/** A server-sent event. */
export interface ServerEvent {
  /** Id of this event, or of the last earlier event that had one. */
  id: string;
  /** Type of the event, `message` by default. */
  type: string;
  /** Data lines of the event, joined by line feeds. */
  data: string;
}

/**
 * Returns a function that accepts a chunk and returns the events which the chunk completes. Data left over at the end
 * of the stream is an incomplete event, which the standard discards.
 */
export function createEventReader(): (bytes: Uint8Array) => ServerEvent[] {
  // Node 26 drops two byte order marks if the first one is split across chunks, so the code below removes the mark.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let atStart = true;
  let endedInReturn = false;
  let unended = '';
  let id = '';
  let type = '';
  let data: string[] = [];

  return (bytes) => {
    let text = decoder.decode(bytes, { stream: true });
    if (text === '') return []; // part of a character, so the state before it still holds
    if (atStart && text.startsWith('\uFEFF')) text = text.slice(1);
    atStart = false;
    if (endedInReturn && text.startsWith('\n')) text = text.slice(1);
    endedInReturn = text.endsWith('\r');
    const lines = text.split(/\r\n|\r|\n/);
    lines[0] = unended + lines[0];
    unended = lines.pop() ?? '';

    const events: ServerEvent[] = [];
    for (const line of lines) {
      if (line !== '') {
        readField(line);
        continue;
      }
      if (data.length > 0) events.push({ id, type: type || 'message', data: data.join('\n') });
      type = '';
      data = [];
    }
    return events;
  };

  /** Reads one field. Unknown fields are ignored, as are comments, which are fields without a name. */
  function readField(line: string): void {
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === 'data') data.push(value);
    else if (name === 'event') type = value;
    else if (name === 'id' && !value.includes('\0')) id = value;
  }
}
