import { readAgentTunnelConfig } from './config.ts';

const stores = { DATABASE_URL: 'postgres://unused', REDIS_URL: 'redis://unused' };
const key = { SERVICE_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64') };
const production = { NODE_ENV: 'production' };

test.each([
  { why: 'a configured key', environment: { ...production, ...key }, canTunnel: true },
  { why: 'no key in production', environment: production, canTunnel: false },
  { why: 'the key of its data directory', environment: {}, canTunnel: true },
])('with $why it forwards requests to nodes: $canTunnel', ({ environment, canTunnel }) => {
  expect(readAgentTunnelConfig({ ...stores, ...environment }).canTunnel).toBe(canTunnel);
});

test.each(['0', '3601'])('a heartbeat interval of %s seconds is refused', (seconds) => {
  expect(() => readAgentTunnelConfig({ ...stores, SERVICE_AGENT_HEARTBEAT_SECS: seconds })).toThrow(
    'SERVICE_AGENT_HEARTBEAT_SECS must be a whole number from 1 to 3600',
  );
});
