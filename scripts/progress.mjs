// Shows how far a run of the tests is: on a terminal a line that changes, elsewhere a line every 30 seconds.

const LIVE_MS = 1_000;
const LINE_MS = 30_000;

/** Removes the live line of a terminal. */
export const CLEAR_LINE = '\r\u001B[K';

/**
 * Starts to show what `describe` returns. `write` prints other text without mixing it with the live line.
 *
 * @param {() => string} describe
 * @param {{ isTTY?: boolean, write(text: string): unknown }} output
 */
export function startProgress(describe, output = process.stdout) {
  const isLive = output.isTTY === true;
  const show = () => {
    output.write(isLive ? `${CLEAR_LINE}${describe()}` : `${describe()}\n`);
  };
  const timer = setInterval(show, isLive ? LIVE_MS : LINE_MS);
  timer.unref();
  return {
    write(text) {
      output.write(isLive ? `${CLEAR_LINE}${text}` : text);
      if (isLive) show();
    },
    stop() {
      clearInterval(timer);
      if (isLive) output.write(CLEAR_LINE);
    },
  };
}

/** Minutes and seconds, such as `3:07`. */
export function clockText(milliseconds) {
  const seconds = Math.floor(milliseconds / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
