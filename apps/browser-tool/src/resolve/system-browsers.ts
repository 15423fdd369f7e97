import { delimiter, isAbsolute, join } from 'node:path';
import { isExecutable } from '@model-gateway/kernel';
import type { CdpBackend } from './browser-backend.ts';

/** The properties of a machine that the search needs. */
export interface Machine {
  readonly os: string;
  readonly home: string;
  /** The values of `ProgramFiles`, `ProgramFiles(x86)` and `LOCALAPPDATA` that are set. */
  readonly programFolders: readonly string[];
}

/** The candidates for each browser: program names to find in PATH, and absolute paths. */
export type SystemBrowsers = Readonly<Record<CdpBackend, readonly string[]>>;

const LINUX: SystemBrowsers = {
  chrome: ['google-chrome', 'google-chrome-stable', 'chrome', '/opt/google/chrome/chrome'],
  chromium: [
    'chromium',
    'chromium-browser',
    '/usr/lib/chromium/chromium',
    '/snap/bin/chromium',
    'chromium-headless-shell',
  ],
  edge: ['microsoft-edge', 'microsoft-edge-stable', '/opt/microsoft/msedge/msedge'],
};

const MAC_APPLICATIONS: Readonly<Record<CdpBackend, string>> = {
  chrome: 'Google Chrome',
  chromium: 'Chromium',
  edge: 'Microsoft Edge',
};

const WINDOWS_PROGRAMS: SystemBrowsers = {
  chrome: ['chrome.exe', 'Google\\Chrome\\Application\\chrome.exe'],
  chromium: ['chromium.exe', 'Chromium\\Application\\chrome.exe'],
  edge: ['msedge.exe', 'Microsoft\\Edge\\Application\\msedge.exe'],
};

/** The candidates on a machine, in the order in which they are tried. */
export function systemBrowsers(machine: Machine): SystemBrowsers {
  const places = (backend: CdpBackend): readonly string[] => placesOf(backend, machine);
  return { chrome: places('chrome'), chromium: places('chromium'), edge: places('edge') };
}

function placesOf(backend: CdpBackend, { os, home, programFolders }: Machine): readonly string[] {
  if (os === 'darwin') {
    const name = MAC_APPLICATIONS[backend];
    const path = join('Applications', `${name}.app`, 'Contents', 'MacOS', name);
    const programs = LINUX[backend].filter((place) => !isAbsolute(place));
    return [join('/', path), join(home, path), ...programs];
  }
  if (os === 'win32') {
    const [program = '', path = ''] = WINDOWS_PROGRAMS[backend];
    return [program, ...programFolders.map((folder) => `${folder}\\${path}`)];
  }
  return LINUX[backend];
}

/** The first executable candidate; program names are searched for in the folders of PATH. */
export async function findSystemBrowser(
  places: readonly string[],
  searchPath: string,
): Promise<string | undefined> {
  // An empty entry of PATH would mean the working directory.
  const folders = searchPath.split(delimiter).filter((folder) => isAbsolute(folder));
  for (const place of places) {
    const paths = isAbsolute(place) ? [place] : folders.map((folder) => join(folder, place));
    for (const path of paths) if (await isExecutable(path)) return path;
  }
  return undefined;
}
