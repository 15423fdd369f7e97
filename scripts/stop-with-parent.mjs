// Ends a service that npm or npx started when they are gone.

/** Whether npm or npx started this process, often through a shell. */
const isStartedByNpm = (env) => env.npm_lifecycle_event !== undefined;

/**
 * Ends this process as SIGTERM does when its parent has gone: a shell between npm and this process does not forward a signal,
 * and nothing does when npm was killed.
 */
export function stopWithParent(env = process.env) {
  if (!isStartedByNpm(env)) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 500);
  watch.unref();
}
