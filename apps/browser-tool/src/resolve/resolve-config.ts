import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ConfigOf, Environment } from '@model-gateway/kernel';
import type { CdpBackend, FfiBackend } from './browser-backend.ts';
import { CHROME_CHECKSUMS } from './chrome-checksums.ts';
import { resolveSettings, type PathSetting } from './resolve-settings.ts';
import { systemBrowsers, type SystemBrowsers } from './system-browsers.ts';

/** A variable that sets the path of a browser or engine, and its value. */
export interface Override {
  readonly variable: string;
  readonly path: string | undefined;
}

/** The inputs of the search for a browser. */
export interface ResolveConfig {
  readonly backend: string;
  /** The variables of each browser; the first that is set wins. */
  readonly overrides: Readonly<Record<CdpBackend | FfiBackend, readonly Override[]>>;
  /** The file that the build wrote, beside its output. */
  readonly bakedFile: string;
  readonly systemBrowsers: SystemBrowsers;
  readonly searchPath: string;
  readonly os: string;
  readonly architecture: string;
  /** The folder that all processes of the user share. */
  readonly cache: string;
  /** The folder of shipped libraries. */
  readonly libraryFolder: string;
  /** Folders that may contain an engine library that was shipped with the tool. */
  readonly shippedFolders: readonly string[];
  readonly chromeVersion: string;
  readonly chromeMirror: string;
  readonly chromeSha256: string | undefined;
  /** By version and platform, where that is not set. */
  readonly chromeChecksums: Readonly<Record<string, string>>;
  readonly downloadProxy: string | undefined;
  readonly downloadTimeoutMs: number;
  readonly skipBrowserFetch: boolean;
}

/** The properties of the machine besides the environment. */
export interface MachineInfo {
  readonly os: string;
  readonly architecture: string;
  readonly home: string;
  readonly executable: string;
}

/** Combines the settings and the machine. Relative paths start from the caller's folder. */
export function resolveConfigFrom(
  values: ConfigOf<typeof resolveSettings>,
  environment: Environment,
  machine: MachineInfo,
): ResolveConfig {
  const callerFolder = environment['INIT_CWD'] ?? '.';
  const override = (name: PathSetting): Override => {
    const path = values[name];
    const whole = path === undefined ? undefined : resolve(callerFolder, path);
    return { variable: resolveSettings[name].env, path: whole };
  };
  const output = fileURLToPath(new URL('..', import.meta.url));
  return {
    backend: values.backend,
    overrides: {
      chrome: [override('chromePath'), override('chromePathAlias')],
      chromium: [override('chromiumPath'), override('chromiumPathAlias')],
      edge: [override('edgePath'), override('edgePathAlias')],
      firefox: [override('firefoxEngine'), override('enginePath')],
      servo: [override('servoEngine'), override('enginePath')],
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
    chromeChecksums: isOnThisMachine(values.chromeMirror) ? {} : CHROME_CHECKSUMS,
    downloadProxy: values.downloadProxy,
    downloadTimeoutMs: values.downloadTimeoutSecs * 1000,
    skipBrowserFetch: values.skipBrowserFetch,
  };
}

/** A mirror on this machine serves what its operator chose, so the shipped checksums do not apply to it. */
function isOnThisMachine(mirror: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(mirror).hostname);
}

function cacheHome(environment: Environment, { os, home }: MachineInfo): string {
  const configured = environment[os === 'win32' ? 'LOCALAPPDATA' : 'XDG_CACHE_HOME'];
  if (configured !== undefined && configured !== '') return resolve(configured);
  const folder = { darwin: 'Library/Caches', win32: 'AppData/Local' }[os] ?? '.cache';
  return join(home, folder);
}

function programFolders(environment: Environment): readonly string[] {
  const names = ['ProgramFiles', 'ProgramFiles(x86)', 'LOCALAPPDATA'];
  return names.flatMap((name) => environment[name] ?? []);
}
