import { runServer } from '@model-gateway/server-process';
import { createGateway } from './app.ts';
import { readGatewayConfig } from './config.ts';

await runServer({ name: 'gateway', readConfig: readGatewayConfig, create: createGateway });
