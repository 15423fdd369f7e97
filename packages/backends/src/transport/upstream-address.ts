import type { SpanAttributes } from '@model-gateway/kernel';

const PORTS: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'ws:': 80,
  'wss:': 443,
};

/** The address of an upstream for traces. */
export function upstreamAddress(url: string): SpanAttributes {
  const { protocol, hostname, port } = new URL(url);
  const number = port === '' ? PORTS[protocol] : Number(port);
  return { 'server.address': hostname, ...(number === undefined ? {} : { 'server.port': number }) };
}
