import { isIPv6 } from 'node:net';
import { createBackend } from '@model-gateway/backends';
import { describeError, type Clock, type Log } from '@model-gateway/kernel';
import { tunneledUrl } from '@model-gateway/router';

/** Finds out how gateways can reach the models of a node. */
export interface Reach {
  /** Undefined when the model answers nowhere. Of a node without a tunnel its own address is taken, whether or not it answers by now. */
  locate(modelId: string, port: number): Promise<Located | undefined>;
  /** Whether a model still answers where it was found. */
  isThere(modelId: string, located: Located): Promise<boolean>;
}

export interface Located {
  readonly url: string;
  readonly isTunneled: boolean;
  /** Nobody answers there yet. */
  readonly isSilent?: true;
}

export interface ReachOptions {
  readonly agentId: string;
  /** Where the node's models listen, as it told or as its connection comes from. */
  readonly host: string;
  /** Whether requests can be passed on to it through its connection. */
  readonly canTunnel: boolean;
  /** Where gateways reach this very process. */
  readonly origin: string;
  readonly tunnelKey: string;
  readonly clock: Clock;
  readonly log: Log;
}

const PROBE_MS = 2_000;
const TIMEOUTS = { connectMs: PROBE_MS, idleMs: PROBE_MS, totalMs: PROBE_MS };

export function createReach(options: ReachOptions): Reach {
  const { agentId, host, canTunnel, origin, tunnelKey, clock, log } = options;
  const hostInUrl = isIPv6(host) ? `[${host}]` : host;

  /** Asks as a gateway would; answers the models that are served there, none when it is not healthy. */
  async function modelsAt(
    { url, isTunneled }: Located,
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
      log.debug({ agentId, url, reason: describeError(error) }, 'a model does not answer here');
      return [];
    } finally {
      await backend.close();
    }
  }

  /** Some engines have no listing: to answer at all is enough where nobody else can be meant. */
  const answers = async (located: Located, modelId: string): Promise<boolean> =>
    (await modelsAt(located, [modelId])).length > 0;

  return {
    async locate(modelId, port) {
      const direct = { url: `http://${hostInUrl}:${port}`, isTunneled: false };
      const listed = await modelsAt(direct, []);
      // Behind an address translator somebody else may answer there. Only who knows the model is who we mean.
      if (listed.includes(modelId) || listed.includes(`${modelId}:latest`)) return direct;
      if (!canTunnel)
        return (await answers(direct, modelId)) ? direct : { ...direct, isSilent: true };
      const through = { url: tunneledUrl(origin, agentId, modelId), isTunneled: true };
      return (await answers(through, modelId)) ? through : undefined;
    },
    isThere: (modelId, located) => answers(located, modelId),
  };
}
