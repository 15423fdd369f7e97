// Shows how far long work is: on a terminal a line that changes, elsewhere a line every 30 seconds, or as often as asked.

const LIVE_MS = 1_000;
const LINE_MS = 30_000;
const STEP_LINE_MS = 10_000;

/** Removes the live line of a terminal. */
export const CLEAR_LINE = '\r\u001B[K';

/**
 * Starts to show what `describe` returns. `write` prints other text without mixing it with the live line.
 *
 * @param {() => string} describe
 * @param {{ isTTY?: boolean, write(text: string): unknown }} output
 */
export function startProgress(describe, output = process.stdout, lineMs = LINE_MS) {
  const isLive = output.isTTY === true;
  const show = () => {
    output.write(isLive ? `${CLEAR_LINE}${describe()}` : `${describe()}\n`);
  };
  const timer = setInterval(show, isLive ? LIVE_MS : lineMs);
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

/**
 * Runs a step that can take long, with its name, what takes the time, how much of it is done and how long it has taken. The step
 * reports the first by a function that it gets.
 *
 * @template T
 * @param {string} name
 * @param {string} why
 * @param {(report: (done: number, total: number) => void) => Promise<T>} run
 * @param {{ isTTY?: boolean, write(text: string): unknown }} output
 * @returns {Promise<T>}
 */
export async function longStep(name, why, run, output = process.stdout) {
  const startedAt = performance.now();
  const elapsed = () => clockText(performance.now() - startedAt);
  output.write(`${name}: ${why}…${output.isTTY === true ? '' : '\n'}`);
  let part = '';
  const describe = () => `${name}: ${why}${part}… ${elapsed()}`;
  const progress = startProgress(describe, output, STEP_LINE_MS);
  try {
    return await run((done, total) => {
      part = `, ${done} of ${total}`;
    });
  } finally {
    progress.stop();
    output.write(`${name}: ${elapsed()}\n`);
  }
}

/** Minutes and seconds, such as `3:07`. */
export function clockText(milliseconds) {
  const seconds = Math.floor(milliseconds / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
