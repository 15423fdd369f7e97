import type { Setting } from '@model-gateway/kernel';
import { processSettings as agentTunnel } from '../../apps/agent-tunnel/src/config.ts';
import { processSettings as browserTool } from '../../apps/browser-tool/src/config.ts';
import { processSettings as gateway } from '../../apps/gateway/src/config.ts';
import { processSettings as rpc } from '../../apps/rpc/src/config.ts';
import { processSettings as videoWorker } from '../../apps/video-worker/src/config.ts';

/** The servers with their settings. */
export const serverSettings: Readonly<Record<string, readonly Setting[]>> = {
  gateway: Object.values(gateway),
  rpc: Object.values(rpc),
  'agent-tunnel': Object.values(agentTunnel),
  'video-worker': Object.values(videoWorker),
};

/** All five apps that are deployed. */
export const appSettings: Readonly<Record<string, readonly Setting[]>> = {
  ...serverSettings,
  'browser-tool': Object.values(browserTool),
};

/** The variables without which an app does not start in production. */
export const requiredVariables = (app: string): readonly string[] =>
  (appSettings[app] ?? [])
    .filter(
      ({ requiredInProduction, schema }) =>
        requiredInProduction === true || !schema.safeParse(undefined).success,
    )
    .map(({ env }) => env);

type Variables = Readonly<Record<string, string | undefined>>;

/** The problems of the environment of an app: unknown, invalid and missing variables. */
export function environmentProblems(app: string, environment: Variables): readonly string[] {
  const missing = requiredVariables(app).filter((name) => !(name in environment));
  return [
    ...problemsOf(appSettings[app] ?? [], environment),
    ...missing.map((name) => `${name} is missing`),
  ];
}

/** Unknown and invalid variables. */
export function problemsOf(
  settings: readonly Setting[],
  environment: Variables,
): readonly string[] {
  const unknown = Object.keys(environment).filter(
    (name) => !settings.some(({ env }) => env === name),
  );
  const invalid = settings.filter(
    ({ env, schema }) =>
      environment[env] !== undefined && !schema.safeParse(environment[env]).success,
  );
  return [
    ...unknown.map((name) => `${name} is unknown`),
    ...invalid.map(({ env }) => `${env} is invalid`),
  ];
}
