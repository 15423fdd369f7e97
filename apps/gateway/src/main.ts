import { runServer } from '@model-gateway/host';
import { createGateway } from './app.ts';
import { readGatewayConfig } from './config.ts';

await runServer({ name: 'gateway', readConfig: readGatewayConfig, create: createGateway });
