import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProcess } from '@model-gateway/testkit';
import { deployApps } from './deployed-apps.ts';
import { makeEnvironmentFile, readEnvironmentFile } from './environment-file.ts';
import { runJob, startPod } from './pod-processes.ts';
import { containerOf, findWorkload, readBase } from './manifest.ts';
import { openStores, type Stores } from './stores.ts';

/** The service according to its manifests on this machine: deployed folders, an empty Postgres and Redis, and pods. */
export interface Installation {
  readonly stores: Stores;
  readonly adminToken: string;
  /** Starts a pod of an app and waits until it is ready. */
  start(app: string): Promise<TestProcess>;
  /** Runs the migration Job to its end. */
  migrate(): Promise<{ readonly status: number; readonly output: string }>;
  close(): Promise<void>;
}

export async function openInstallation(apps: readonly string[]): Promise<Installation> {
  const manifests = readBase();
  const deployed = await deployApps(apps);
  const volumes = await mkdtemp(join(tmpdir(), 'model-gateway-volumes-'));
  const stores = await openStores();
  const secrets: Readonly<Record<string, string>> = {
    ...readEnvironmentFile(makeEnvironmentFile()),
    DATABASE_URL: stores.databaseUrl,
    REDIS_URL: stores.redisUrl,
  };
  const started: TestProcess[] = [];
  const optionsOf = (app: string, pod: string) => ({
    container: containerOf(manifests, app),
    deployed,
    secrets,
    volumes: join(volumes, pod),
  });
  return {
    stores,
    adminToken: secrets['SERVICE_ADMIN_TOKEN'] ?? '',
    async start(app) {
      const pod = await startPod(optionsOf(app, `${app}-${started.length}`));
      started.push(pod);
      return pod;
    },
    migrate() {
      const [container] = findWorkload(manifests, 'Job', 'migrate').spec.template.spec.containers;
      if (container === undefined) throw new Error('the Job has no container');
      return runJob({ ...optionsOf('gateway', 'migrate'), container });
    },
    async close() {
      await Promise.all(started.map((pod) => pod.stop()));
      await stores.close();
      await deployed.remove();
      await rm(volumes, { recursive: true, force: true });
    },
  };
}
