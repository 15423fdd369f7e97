const QUOTE = '"';
const BACKSLASH = '\\';
const BEYOND_ASCII = /[^\0-\x7f]/;
/** An upstream whose events have no frame in common is not asked for it for ever. */
const FRAMES_SET_MAX = 4;

/**
 * What the events of a stream have around their text. Most upstreams write the same before and after every token, so that an event
 * of theirs is known by two comparisons. Texts have a character per byte.
 */
export interface EventFrame {
  /** What stands around the text of an event, the quote behind it and the end of the event included. */
  setFrame(before: string, after: string): void;
  /** Whether another one may be learned. */
  readonly isWanted: boolean;
  /** The text of all events, where they are whole, have this frame and escape nothing. */
  textIn(events: string): string | undefined;
}

export function createEventFrame(): EventFrame {
  let before = '';
  let after = '';
  let framesSet = 0;
  return {
    get isWanted() {
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
        // Cut out and compared: `startsWith` goes character by character, which takes longer.
        if (events.slice(at, from) !== before) return undefined;
        const end = events.indexOf(QUOTE, from);
        if (end === -1) return undefined;
        at = end + after.length;
        if (events.slice(end, at) !== after) return undefined;
        text += events.slice(from, end);
      }
      // An escaped quote would not be the end of the text.
      return text.includes(BACKSLASH) ? undefined : utf8Of(text);
    },
  };
}

/** The characters of a text that has one per byte. */
export const utf8Of = (text: string): string =>
  BEYOND_ASCII.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text;
