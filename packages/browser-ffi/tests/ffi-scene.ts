import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { silentLog, systemClock } from '@model-gateway/kernel';
import { createCaptures, type Captures } from '../../../apps/browser-tool/src/capture/captures.ts';
import type {
  BrowserEngine,
  EngineCall,
  EngineContext,
} from '../../../apps/browser-tool/src/engine.ts';
import { launchForeignEngine } from '../../../apps/browser-tool/src/foreign/engine.ts';
import { createRefRegistry } from '../../../apps/browser-tool/src/session/ref-registry.ts';
import { startBrowserBehind, type BrowserBehind } from './browser-behind.ts';
import { createEngineLibraries, type EngineLibraries } from './engine-library.ts';

const hostProgram = fileURLToPath(new URL('../dist/engine-host-main.js', import.meta.url));
const PAGES: Readonly<Record<string, string>> = {
  '/': `<title>Home</title><h1>Shop</h1><a href="/next">Next page</a>
    <button id="buy" onclick="out.textContent = 'bought ' + event.button + event.shiftKey">Buy</button>
    <button id="ask" onclick="out.textContent = '' + confirm('Sure?') + prompt('Name?', 'x')">Ask</button>
    <button id="off" disabled>Off</button>
    <button id="late" onclick="setTimeout(() => { out.textContent = 'late' }, 20)">Late</button>
    <form action="/next"><input id="name" name="name" oninput="out.textContent = this.value"></form>
    <textarea id="note">old</textarea>
    <select id="size"><option>Small<option>Large</select><p id="out"></p>`,
  '/next': '<title>Next</title><p>Second page</p>',
};

/** An engine that was started, what it captured, and how often it ended by itself. */
export interface StartedEngine {
  readonly engine: BrowserEngine;
  readonly captures: Captures;
  readonly ends: readonly string[];
}

/** A little site, a browser behind the test engine, and engines on it. */
export interface FfiScene {
  /** Where the site is. */
  readonly address: string;
  readonly behind: BrowserBehind;
  readonly libraries: EngineLibraries;
  start(changes?: Partial<EngineContext>, library?: string): Promise<StartedEngine>;
  close(): Promise<void>;
}

/** Builds the library and starts everything that is around it. */
export async function createFfiScene(): Promise<FfiScene> {
  const libraries = await createEngineLibraries();
  const ordinary = await libraries.build();
  const behind = await startBrowserBehind();
  const started: BrowserEngine[] = [];
  const site = createServer((request, response) => {
    const page = PAGES[new URL(request.url ?? '/', 'http://x').pathname];
    const status = page === undefined ? 404 : 200;
    response.writeHead(status, { 'content-type': 'text/html' }).end(page ?? 'none');
  });
  await new Promise<void>((resolve) => {
    site.listen(0, '127.0.0.1', resolve);
  });
  return {
    address: `http://127.0.0.1:${(site.address() as AddressInfo).port}`,
    behind,
    libraries,
    async start(changes = {}, library = ordinary) {
      const ends: string[] = [];
      const captures = createCaptures(systemClock);
      const context: EngineContext = {
        captures,
        refs: createRefRegistry(),
        log: silentLog,
        viewport: [800, 600],
        proxy: behind.url,
        allowedOrigins: [],
        sandbox: 'auto',
        tabsMax: 20,
        startUrl: 'about:blank',
        onEnd: (reason) => ends.push(reason),
        signal: new AbortController().signal,
        ...changes,
      };
      const browser = { kind: 'ffi', backend: 'servo', library, resolvedBy: 'override' } as const;
      const engine = await launchForeignEngine(browser, context, hostProgram);
      started.push(engine);
      return { engine, captures, ends };
    },
    async close() {
      for (const engine of started) await engine.close();
      site.closeAllConnections();
      site.close();
      await behind.close();
      await libraries.remove();
    },
  };
}

/** A call that does not end. */
export function newCall(changes: Partial<EngineCall> = {}): EngineCall {
  return {
    signal: new AbortController().signal,
    notes: { dialogs: [], downloads: [], openedTab: undefined },
    dialog: undefined,
    promptText: undefined,
    ...changes,
  };
}

/** The profile folders that this process made and that are still there. */
export async function ownProfiles(): Promise<readonly string[]> {
  const names = await readdir(tmpdir());
  const folders = names.filter((name) => name.startsWith('browser-tool-profile-'));
  const owners = await Promise.all(
    folders.map((name) => readFile(join(tmpdir(), name, 'owner.pid'), 'utf8').catch(() => '')),
  );
  return folders.filter((_, index) => owners[index] === String(process.pid));
}
