import type { Connection } from './connection.ts';

const CHECK_MS = 1_000;
const SILENCE_MS = 5_000;
const ANSWER_MS = 5_000;

/** While a command runs: asks a browser that has long said nothing, and gives it up when it does not answer. Answers how to stop. */
export function watchForSilence(connection: Connection, giveUp: () => void): () => void {
  let isAsking = false;
  const ask = async (): Promise<void> => {
    isAsking = true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ANSWER_MS);
    });
    const answered = connection.send('Browser.getVersion').then(
      () => true,
      () => true,
    );
    if (!(await Promise.race([answered, late]))) giveUp();
    clearTimeout(timer);
    isAsking = false;
  };
  const check = setInterval(() => {
    if (!isAsking && performance.now() - connection.heardAt > SILENCE_MS) void ask();
  }, CHECK_MS);
  return () => clearInterval(check);
}
