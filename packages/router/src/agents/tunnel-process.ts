import { isUnreachable, type Requests, type Subscription } from '@model-gateway/kernel';

const ANSWER_TIMEOUT_MS = 1_000;

/** Answers for a process that holds connections of nodes, as long as it runs. */
export const serveTunnelProcess = (
  requests: Pick<Requests, 'serve'>,
  processId: string,
): Promise<Subscription> => requests.serve(addressOf(processId), () => Promise.resolve({}));

/** Whether no process has this id any more. One that is slow to answer still runs. */
export async function hasEnded(
  requests: Pick<Requests, 'call'>,
  processId: string,
): Promise<boolean> {
  try {
    await requests.call(addressOf(processId), {}, { timeoutMs: ANSWER_TIMEOUT_MS });
    return false;
  } catch (error) {
    return isUnreachable(error);
  }
}

const addressOf = (processId: string): string => `tunnel-process:${processId}`;
