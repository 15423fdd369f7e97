import { runChildProcess } from '@model-gateway/server-process';
import type { GatewayAsks, GatewayBegin } from './gateway-process.ts';
import type { RecorderAsks, RecorderBegin } from './recorder-process.ts';

/** Runs a process that `openStandalone` has started. Each role loads only its own code. */
export const runChild = (): void =>
  runChildProcess<GatewayBegin | RecorderBegin, GatewayAsks & RecorderAsks>({
    app: 'standalone',
    open: async (begin, process) =>
      begin.role === 'recorder'
        ? (await import('./recorder-process.ts')).openRecorder(begin, process)
        : (await import('./gateway-process.ts')).openGatewayProcess(begin, process),
  });
