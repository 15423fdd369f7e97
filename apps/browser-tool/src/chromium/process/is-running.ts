import { errorCode } from '@model-gateway/kernel';

/** Whether a process with this id exists on this machine. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It exists and belongs to another user.
    return errorCode(error) === 'EPERM';
  }
}
