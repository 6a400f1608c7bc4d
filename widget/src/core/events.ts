// Parses server-sent events from bytes split anywhere. https://html.spec.whatwg.org/multipage/server-sent-events.html

export interface ServerEvent {
  name: string;
  data: string;
}

/** Reads a stream of events; ids and reconnection times are not used here. */
export class EventReader {
  private readonly decoder = new TextDecoder();
  private rest = '';
  private name = '';
  private data: string[] = [];

  /** Returns the events that these bytes complete. */
  push(bytes: Uint8Array): ServerEvent[] {
    this.rest += this.decoder.decode(bytes, { stream: true });
    // A carriage return at the end may be the first half of a line break.
    const lines = this.rest.split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.line(line) ?? []);
  }

  private line(line: string): ServerEvent | undefined {
    if (line === '') {
      const event = { name: this.name || 'message', data: this.data.join('\n') };
      const isEmpty = this.data.length === 0;
      this.name = '';
      this.data = [];
      return isEmpty ? undefined : event;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.name = value;
    if (field === 'data') this.data.push(value);
    return undefined;
  }
}
