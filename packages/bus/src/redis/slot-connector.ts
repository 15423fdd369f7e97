import { connect as connectTcp } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { isError, withTimeout } from '@model-gateway/kernel';
import { AbstractConnector, Redis, type RedisOptions } from 'ioredis';
import { z } from 'zod';
import type { RedisAddress } from './redis-address.ts';

interface SlotConnectorOptions {
  /** Some nodes of the Cluster. */
  readonly nodes: readonly RedisAddress[];
  /** The key whose slot decides about the node. */
  readonly key: string;
  readonly retryDelay: (attempt: number) => number;
}

type ConnectorClass = NonNullable<RedisOptions['Connector']>;
type ErrorEmitter = Parameters<AbstractConnector['connect']>[0];
type Credentials = Pick<RedisOptions, 'username' | 'password' | 'tls' | 'family'>;

const LOOKUP_TIMEOUT_MS = 1_000;
const DISCONNECT_TIMEOUT_MS = 250;
const KNOWN_NODES_MAX = 100;

const nodeSchema = z.tuple([z.string().nullable(), z.number()]).rest(z.unknown());
const slotsSchema = z.array(z.tuple([z.number(), z.number(), nodeSchema]).rest(nodeSchema));

/**
 * Connects a client to the node of a Cluster that has the slot of a key. All keys of an installation are in that slot, so the
 * client needs no other node; after a fail-over it connects again.
 */
export function slotConnector({ nodes, key, retryDelay }: SlotConnectorOptions): ConnectorClass {
  // All clients of the process share what they learn: the configured nodes may all have been replaced.
  let known: readonly RedisAddress[] = nodes;

  async function findPrimary(credentials: Credentials): Promise<RedisAddress> {
    let failure: unknown;
    for (const node of known) {
      try {
        const { primary, others } = await askNode(node, key, credentials);
        // A node that has just failed is asked last.
        known = distinct([...others, ...nodes, ...known, node]).slice(0, KNOWN_NODES_MAX);
        return primary;
      } catch (error) {
        failure = error;
      }
    }
    throw isError(failure) ? failure : new Error('no node of the Cluster answered');
  }

  return class SlotConnector extends AbstractConnector {
    readonly #options: Credentials;

    constructor(options: unknown) {
      super(DISCONNECT_TIMEOUT_MS);
      this.#options = options as Credentials;
    }

    override async connect(emit: ErrorEmitter): Promise<AbstractConnector['stream']> {
      this.connecting = true;
      for (let attempt = 1; this.connecting; attempt += 1) {
        try {
          const { host, port } = await findPrimary(this.#options);
          if (!this.connecting) break;
          const { tls, family } = this.#options;
          const address = { host, port, ...(family === undefined ? {} : { family }) };
          this.stream =
            tls === undefined ? connectTcp(address) : connectTls({ ...address, ...tls });
          this.stream.once('error', (error: Error) => (this.firstError = error));
          return this.stream;
        } catch (error) {
          if (isError(error)) emit('error', error);
          // Rejecting would end the client for good.
          await delay(retryDelay(attempt));
        }
      }
      throw new Error('Connection is closed.');
    }
  };
}

/** Asks one node which node is the primary of the slot. */
async function askNode(
  { host, port }: RedisAddress,
  key: string,
  { username, password, tls, family }: Credentials,
): Promise<{ readonly primary: RedisAddress; readonly others: readonly RedisAddress[] }> {
  const client = new Redis({
    host,
    port,
    username,
    password,
    tls,
    ...(family === undefined ? {} : { family }),
    lazyConnect: true,
    retryStrategy: null,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    connectTimeout: LOOKUP_TIMEOUT_MS,
  });
  let reason: unknown;
  client.on('error', (error: unknown) => (reason = error));
  async function ask() {
    await client.connect();
    const [slot, answer] = await Promise.all([
      client.cluster('KEYSLOT', key),
      client.cluster('SLOTS'),
    ]);
    return { slot, ranges: slotsSchema.parse(answer) };
  }
  try {
    const { slot, ranges } = await withTimeout(ask(), 2 * LOOKUP_TIMEOUT_MS);
    // A node that does not know its own address is at the one that was asked.
    const addressOf = ([address, itsPort]: z.infer<typeof nodeSchema>): RedisAddress => ({
      host: address === null || address === '' || address === '?' ? host : address,
      port: itsPort,
    });
    const range = ranges.find(([first, last]) => slot >= first && slot <= last);
    if (range === undefined) throw new Error(`no node of the Cluster has the slot ${slot}`);
    const primary = addressOf(range[2]);
    const all = ranges.flatMap(([, , ...ofRange]) => ofRange.map(addressOf));
    return { primary, others: distinct(all).filter((node) => !isSame(node, primary)) };
  } catch (error) {
    throw reason ?? error;
  } finally {
    client.disconnect();
  }
}

const isSame = (left: RedisAddress, right: RedisAddress): boolean =>
  left.host === right.host && left.port === right.port;

const distinct = (addresses: readonly RedisAddress[]): readonly RedisAddress[] =>
  addresses.filter((one, index) => addresses.findIndex((other) => isSame(one, other)) === index);
