import { runProcess } from '@model-gateway/kernel';
import { openStandalone } from './app.ts';
import { readStandaloneConfig } from './config.ts';

await runProcess({ name: 'standalone', readConfig: readStandaloneConfig, open: openStandalone });
