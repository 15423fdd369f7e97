/** When the last subtitle of a text ends, which is about how long the audio is. */
export interface SubtitleEnd {
  add(text: string): void;
  /** Undefined if the text has no subtitles. */
  readonly seconds: number | undefined;
}

/** The times of SubRip and WebVTT, which has the hours only if there are some. */
const TIMES = /--> *(?:(\d{1,4}):)?(\d{2}):(\d{2})[,.](\d{3})/g;
/** More than a time that is divided between two pieces of a text. */
const TAIL_CHARS = 32;

export function createSubtitleEnd(): SubtitleEnd {
  let tail = '';
  let seconds: number | undefined;
  return {
    add(text) {
      const read = tail + text;
      for (const [, hours = '0', minutes, whole, thousandths] of read.matchAll(TIMES)) {
        seconds =
          Number(hours) * 3600 + Number(minutes) * 60 + Number(whole) + Number(thousandths) / 1000;
      }
      tail = read.slice(-TAIL_CHARS);
    },
    get seconds() {
      return seconds;
    },
  };
}
