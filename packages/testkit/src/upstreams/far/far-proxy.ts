import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import type { TestCertificates } from '../../certificates.ts';

/** An upstream that is far away: a TLS proxy in front of it that delays every byte, and counts connections. */
export interface FarProxy {
  /** The address of the upstream through the proxy, with `https`. */
  readonly url: string;
  /** Connections that carried a POST: probes and listings do not count. */
  workConnections(): number;
  close(): Promise<void>;
}

interface FarProxyOptions {
  /** The upstream, with `http`. */
  readonly target: string;
  readonly certificates: TestCertificates;
  /** Each way. */
  readonly delayMs?: number;
}

const POST = 'POST ';

export async function startFarProxy(options: FarProxyOptions): Promise<FarProxy> {
  const { target, certificates, delayMs = 20 } = options;
  const { hostname, port: targetPort, pathname } = new URL(target);
  const open = new Set<TLSSocket>();
  let workConnections = 0;
  const server = createServer(
    {
      key: await readFile(certificates.keyFile),
      cert: await readFile(certificates.certificateFile),
      ALPNProtocols: ['http/1.1'],
    },
    (client) => {
      open.add(client);
      let isWork = false;
      client.on('data', (bytes: Buffer) => {
        if (isWork || bytes.toString('latin1', 0, POST.length) !== POST) return;
        isWork = true;
        workConnections += 1;
      });
      client.once('close', () => open.delete(client));
      const upstream = connect({ host: hostname, port: Number(targetPort) });
      passLate(client, upstream, delayMs);
      passLate(upstream, client, delayMs);
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://localhost:${port}${pathname === '/' ? '' : pathname}`,
    workConnections: () => workConnections,
    async close() {
      for (const client of open) client.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Passes bytes, and the end, after a delay; a failure of one side ends the other. */
function passLate(from: Socket, to: Socket, delayMs: number): void {
  from.setNoDelay(true);
  from.on('data', (bytes: Buffer) => {
    setTimeout(() => {
      if (!to.destroyed) to.write(bytes);
    }, delayMs);
  });
  from.once('end', () => setTimeout(() => to.end(), delayMs));
  from.once('error', () => to.destroy());
  from.once('close', () => setTimeout(() => to.destroy(), delayMs));
}
