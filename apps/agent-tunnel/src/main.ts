import { runServer } from '@model-gateway/server-process';
import { createAgentTunnel } from './app.ts';
import { readAgentTunnelConfig } from './config.ts';

await runServer({
  name: 'agent-tunnel',
  readConfig: readAgentTunnelConfig,
  create: createAgentTunnel,
});
