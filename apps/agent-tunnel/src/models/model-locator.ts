import { isIPv6 } from 'node:net';
import { createBackend } from '@model-gateway/backends';
import { describeError, type Clock, type Log } from '@model-gateway/kernel';
import { tunneledUrl } from '@model-gateway/router';

/** Finds the URL at which gateways reach the models of a node. */
export interface ModelLocator {
  /**
   * Undefined when the model does not respond. For a node without a tunnel it is its own address, whether or not it responds
   * yet.
   */
  locate(modelId: string, port: number): Promise<ModelLocation | undefined>;
  /** Whether a model still responds at its location. */
  isServing(modelId: string, location: ModelLocation): Promise<boolean>;
}

export interface ModelLocation {
  readonly url: string;
  readonly isTunneled: boolean;
  /** The model does not respond there yet. */
  readonly isUnresponsive?: true;
}

export interface ModelLocatorOptions {
  readonly agentId: string;
  /** Where the models of the node listen; undefined when gateways must not call it there. */
  readonly host: string | undefined;
  /** Whether requests can be forwarded to it through its connection. */
  readonly canTunnel: boolean;
  /** The URL at which gateways reach this process. */
  readonly origin: string;
  readonly tunnelKey: string;
  readonly clock: Clock;
  readonly log: Log;
}

const PROBE_MS = 2_000;
const TIMEOUTS = { connectMs: PROBE_MS, idleMs: PROBE_MS, totalMs: PROBE_MS };

export function createModelLocator(options: ModelLocatorOptions): ModelLocator {
  const { agentId, host, canTunnel, origin, tunnelKey, clock, log } = options;

  /** Probes as a gateway does; returns the models that are served there, none when it is not healthy. */
  async function modelsAt(
    { url, isTunneled }: ModelLocation,
    known: readonly string[],
  ): Promise<readonly string[]> {
    const backend = createBackend(
      {
        name: 'probe',
        type: 'external',
        url,
        apiKey: isTunneled ? tunnelKey : null,
        models: known,
        capabilities: null,
      },
      { timeouts: TIMEOUTS, clock },
    );
    try {
      const { state, models } = await backend.probe(AbortSignal.timeout(PROBE_MS));
      return state === 'Healthy' ? models : [];
    } catch (error) {
      log.debug({ agentId, url, reason: describeError(error) }, 'probing a model failed');
      return [];
    } finally {
      await backend.close();
    }
  }

  /** Some engines have no listing: any response is enough where no other server can be at the address. */
  const responds = async (location: ModelLocation, modelId: string): Promise<boolean> =>
    (await modelsAt(location, [modelId])).length > 0;

  return {
    async locate(modelId, port) {
      const direct = host === undefined ? undefined : directLocation(host, port);
      const listed = direct === undefined ? [] : await modelsAt(direct, []);
      // Behind NAT another server may have this address. Only a server that lists the model is the node.
      if (listed.includes(modelId) || listed.includes(`${modelId}:latest`)) return direct;
      if (!canTunnel) {
        if (direct === undefined || (await responds(direct, modelId))) return direct;
        return { ...direct, isUnresponsive: true };
      }
      const through = { url: tunneledUrl(origin, agentId, modelId), isTunneled: true };
      return (await responds(through, modelId)) ? through : undefined;
    },
    isServing: (modelId, location) => responds(location, modelId),
  };
}

const directLocation = (host: string, port: number): ModelLocation => ({
  url: `http://${isIPv6(host) ? `[${host}]` : host}:${port}`,
  isTunneled: false,
});
