const QUOTE = '"';
/** Escapes, and line breaks, which no JSON text contains: clients would see another event. */
const UNUSUAL = /[\\\r\n]/;
const BEYOND_ASCII = /[^\0-\x7f]/;
/** After this many frames the upstream has no common one, and the search ends. */
const FRAMES_SET_MAX = 4;

/**
 * The part of an event before and after its text. Most upstreams write the same around every token, so that two comparisons
 * recognize an event. Texts have a character per byte.
 */
export interface EventFrame {
  /** Sets the parts around the text, including the closing quote and the end of the event. */
  setFrame(before: string, after: string): void;
  /** Whether another frame may be set. */
  readonly acceptsFrame: boolean;
  /** The text of all events, where they are whole, have this frame and escape nothing. */
  textIn(events: string): string | undefined;
}

export function createEventFrame(): EventFrame {
  let before = '';
  let after = '';
  let framesSet = 0;
  return {
    get acceptsFrame() {
      return framesSet < FRAMES_SET_MAX;
    },
    setFrame(nextBefore, nextAfter) {
      before = nextBefore;
      after = nextAfter;
      framesSet += 1;
    },
    textIn(events) {
      if (framesSet === 0) return undefined;
      let text = '';
      for (let at = 0; at < events.length;) {
        const from = at + before.length;
        // Slices and compares: `startsWith` is slower.
        if (events.slice(at, from) !== before) return undefined;
        const end = events.indexOf(QUOTE, from);
        if (end === -1) return undefined;
        at = end + after.length;
        if (events.slice(end, at) !== after) return undefined;
        text += events.slice(from, end);
      }
      // An escaped quote is not the end of the text.
      return UNUSUAL.test(text) ? undefined : utf8Of(text);
    },
  };
}

/** Decodes a text that has one character per byte. */
export const utf8Of = (text: string): string =>
  BEYOND_ASCII.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text;
