import { runServer } from '@model-gateway/server-process';
import { createRpc } from './app.ts';
import { readRpcConfig } from './config.ts';

await runServer({ name: 'rpc', readConfig: readRpcConfig, create: createRpc });
