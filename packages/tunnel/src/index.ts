export { TunnelError } from './frame.ts';
export { createTunnel, type Exchange, type Tunnel, type TunnelOptions } from './tunnel.ts';
