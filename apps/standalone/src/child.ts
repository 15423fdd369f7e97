import { runChildProcess } from '@model-gateway/server-process';
import { openRecorder } from './recorder-process.ts';

/** Runs a process that `openStandalone` has started. */
export const runChild = (): void => runChildProcess({ app: 'standalone', open: openRecorder });
