import { runServer } from '@model-gateway/host';
import { createVideoWorker } from './app.ts';
import { readVideoWorkerConfig } from './config.ts';

await runServer({
  name: 'video-worker',
  readConfig: readVideoWorkerConfig,
  create: createVideoWorker,
});
