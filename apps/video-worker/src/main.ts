import { runServer } from '@model-gateway/server-process';
import { createVideoWorker } from './app.ts';
import { readVideoWorkerConfig } from './config.ts';

await runServer({
  name: 'video-worker',
  readConfig: readVideoWorkerConfig,
  create: createVideoWorker,
});
