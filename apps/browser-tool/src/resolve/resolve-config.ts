import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ConfigOf, Environment } from '@model-gateway/kernel';
import type { FfiBackend } from './browser-backend.ts';
import type { resolveSettings } from './resolve-settings.ts';
import { systemBrowsers, type CdpBackend, type SystemBrowsers } from './system-browsers.ts';

/** A variable that names a browser or an engine, and what it says. */
export interface Override {
  readonly variable: string;
  readonly path: string | undefined;
}

/** Everything that the search for a browser depends on. */
export interface ResolveConfig {
  readonly backend: string;
  /** For each browser the variables that name it, the first that is set wins. */
  readonly overrides: Readonly<Record<CdpBackend | FfiBackend, readonly Override[]>>;
  /** The file that the build wrote, beside its output. */
  readonly bakedFile: string;
  readonly systemBrowsers: SystemBrowsers;
  readonly searchPath: string;
  readonly os: string;
  readonly architecture: string;
  /** The folder that all processes of the user share. */
  readonly cache: string;
  /** Where the build puts libraries that are shipped. */
  readonly libraryFolder: string;
  /** Folders where the library of an engine may lie that was shipped with the tool. */
  readonly shippedFolders: readonly string[];
  readonly chromeVersion: string;
  readonly chromeMirror: string;
  readonly chromeSha256: string | undefined;
  readonly downloadProxy: string | undefined;
  readonly downloadTimeoutMs: number;
  readonly skipBrowserFetch: boolean;
}

/** What is known of the machine besides the environment. */
export interface MachineInfo {
  readonly os: string;
  readonly architecture: string;
  readonly home: string;
  readonly executable: string;
}

/** Puts the settings and the machine together. Relative paths start from the folder that the tool was called in. */
export function resolveConfigFrom(
  values: ConfigOf<typeof resolveSettings>,
  environment: Environment,
  machine: MachineInfo,
): ResolveConfig {
  const called = environment['INIT_CWD'] ?? '.';
  const override = (variable: string, path: string | undefined): Override => ({
    variable,
    path: path === undefined ? undefined : resolve(called, path),
  });
  const engine = override('BROWSER_ENGINE_PATH', values.enginePath);
  const output = fileURLToPath(new URL('..', import.meta.url));
  return {
    backend: values.backend,
    overrides: {
      chrome: [
        override('CHROME_PATH', values.chromePath),
        override('BROWSER_CHROME_PATH', values.chromePathAlias),
      ],
      chromium: [
        override('CHROMIUM_PATH', values.chromiumPath),
        override('BROWSER_CHROMIUM_PATH', values.chromiumPathAlias),
      ],
      edge: [
        override('EDGE_PATH', values.edgePath),
        override('BROWSER_EDGE_PATH', values.edgePathAlias),
      ],
      firefox: [override('BROWSER_FIREFOX_ENGINE', values.firefoxEngine), engine],
      servo: [override('BROWSER_SERVO_ENGINE', values.servoEngine), engine],
    },
    bakedFile: join(output, 'baked-browser.json'),
    systemBrowsers: systemBrowsers({ ...machine, programFolders: programFolders(environment) }),
    searchPath: environment['PATH'] ?? environment['Path'] ?? '',
    os: machine.os,
    architecture: machine.architecture,
    cache: join(cacheHome(environment, machine), 'browser-tool'),
    libraryFolder: join(output, 'lib'),
    shippedFolders: [join(output, 'lib'), output, join(machine.executable, '..')],
    chromeVersion: values.chromeVersion,
    chromeMirror: values.chromeMirror,
    chromeSha256: values.chromeSha256,
    downloadProxy: values.downloadProxy,
    downloadTimeoutMs: values.downloadTimeoutSecs * 1000,
    skipBrowserFetch: values.skipBrowserFetch,
  };
}

function cacheHome(environment: Environment, { os, home }: MachineInfo): string {
  const stated = environment[os === 'win32' ? 'LOCALAPPDATA' : 'XDG_CACHE_HOME'];
  if (stated !== undefined && stated !== '') return resolve(stated);
  const own = { darwin: 'Library/Caches', win32: 'AppData/Local' }[os] ?? '.cache';
  return join(home, own);
}

function programFolders(environment: Environment): readonly string[] {
  const names = ['ProgramFiles', 'ProgramFiles(x86)', 'LOCALAPPDATA'];
  return names.flatMap((name) => environment[name] ?? []);
}
