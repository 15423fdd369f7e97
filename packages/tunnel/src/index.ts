export { createTunnel, type Exchange } from './tunnel.ts';
