import { asText } from '@model-gateway/demo-model/answers';
import { createChanges } from '../recording/changes.ts';
import { createFaultPlan, type FaultPlan } from '../faults/fault-plan.ts';
import { extend } from '../wire/extend.ts';
import type { RpcFault } from '../faults/rpc-faults.ts';
import { RpcMethodError } from '../wire/json-rpc-call.ts';
import {
  startJsonRpcServer,
  type RpcServerOptions,
  type RunningRpcServer,
} from '../wire/json-rpc-server.ts';
import { openTcpForward, type ForwardTarget, type TcpForward } from './tcp-forward.ts';

/** The methods of a bridge agent. */
export type BridgeMethod = 'Bridge.Connect';

/** The options of a bridge agent. */
export interface BridgeAgentOptions extends RpcServerOptions {
  /** The address of each service, by `<node>/<service>`. */
  readonly targets?: Readonly<Record<string, ForwardTarget>>;
}

/** A running bridge agent. */
export interface RunningBridgeAgent extends RunningRpcServer {
  readonly faults: FaultPlan<RpcFault, BridgeMethod>;
  /** Adds a service or changes its address. */
  setTarget(node: string, service: string, target: ForwardTarget): void;
  /** The local port of an open tunnel. */
  localPort(node: string, service: string): number | undefined;
  /** Closes a tunnel: its port refuses connections, and the next `Bridge.Connect` opens another one. */
  dropTunnel(node: string, service: string): Promise<void>;
}

/** Starts a bridge agent that forwards local ports to its services. */
export async function startBridgeAgent(
  options: BridgeAgentOptions = {},
): Promise<RunningBridgeAgent> {
  const { targets: known = {}, ...rpcOptions } = options;
  const targets = new Map(Object.entries(known));
  const tunnels = new Map<string, TcpForward>();
  const opening = new Map<string, Promise<TcpForward>>();
  const lastPorts = new Map<string, number>();
  const faults = createFaultPlan<RpcFault, BridgeMethod>(['Bridge.Connect']);

  async function open(name: string): Promise<TcpForward> {
    const target = targets.get(name);
    if (target === undefined) throw new RpcMethodError(`no such service: ${name}`);
    const tunnel = await openTcpForward(target, lastPorts.get(name));
    tunnels.set(name, tunnel);
    lastPorts.set(name, tunnel.port);
    return tunnel;
  }
  /** Concurrent callers share one tunnel. */
  async function tunnelTo(name: string): Promise<TcpForward> {
    const running = tunnels.get(name) ?? opening.get(name);
    if (running !== undefined) return running;
    const opened = open(name).finally(() => opening.delete(name));
    opening.set(name, opened);
    return opened;
  }
  async function drop(name: string): Promise<void> {
    const tunnel = tunnels.get(name);
    tunnels.delete(name);
    await tunnel?.close();
  }

  const server = await startJsonRpcServer(rpcOptions, {
    methods: {
      'Bridge.Connect': async ({ params }) => {
        const name = nameOf(asText(params.node) ?? '', asText(params.service) ?? '');
        return { local_port: (await tunnelTo(name)).port };
      },
    },
    faults,
    changes: createChanges(),
  });
  return extend(server, {
    faults,
    setTarget: (node: string, service: string, target: ForwardTarget) => {
      targets.set(nameOf(node, service), target);
    },
    localPort: (node: string, service: string) => tunnels.get(nameOf(node, service))?.port,
    dropTunnel: (node: string, service: string) => drop(nameOf(node, service)),
    close: async () => {
      await server.close();
      await Promise.all([...tunnels.keys()].map(drop));
    },
  });
}

const nameOf = (node: string, service: string): string => `${node}/${service}`;
