// Server-sent events (the event stream of the HTML standard, §9.2.6) out of bytes that come in pieces of any size.

export interface ServerEvent {
  /** Of this event, or of the last one before it that had one. */
  id: string;
  type: string;
  data: string;
}

/** Takes a piece and gives the events that are complete with it. What is left at the end of a stream was cut off. */
export function createEventReader(): (bytes: Uint8Array) => ServerEvent[] {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true }); // Node 26 drops two of them when the first comes in parts
  let atStart = true;
  let endedInReturn = false;
  let unended = '';
  let id = '';
  let type = '';
  let data: string[] = [];

  return (bytes) => {
    let text = decoder.decode(bytes, { stream: true });
    if (text === '') return []; // part of a character: what was before it still counts
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

  /** A comment is a field without a name, and ignored like any that is not known. */
  function readField(line: string): void {
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === 'data') data.push(value);
    else if (name === 'event') type = value;
    else if (name === 'id' && !value.includes('\0')) id = value;
  }
}
