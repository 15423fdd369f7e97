import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeDirectory } from '@model-gateway/kernel';
import { startProcess, type TestProcess, preparedDataDir } from '@model-gateway/testkit';
import {
  PROVIDERS,
  startChatUpstream,
  startOllamaServer,
  startProviderApi,
  startRecordedServer,
} from '@model-gateway/testkit/upstreams';

/** Everything that the documents use: the service, and fake servers for the other addresses. */
export interface DocumentedWorld {
  /** The environment of the shell. */
  readonly environment: Readonly<Record<string, string>>;
  /** The text of a document with the addresses of these servers. */
  translate(text: string): string;
  /** A working folder with the data directory and the packages that the guides use. */
  folder(): Promise<string>;
  close(): Promise<void>;
}

const START_TIMEOUT_MS = 180_000;
/** The packages that the guides import, and where they are installed. */
const GUIDE_PACKAGES = [
  ['apps/gateway/tests', 'openai'],
  ['apps/standalone/tests', '@langchain/openai'],
  ['apps/standalone/tests', '@ai-sdk/openai-compatible'],
  ['apps/standalone/tests', 'ai'],
] as const;
const SECRETS = {
  OPENAI_API_KEY: 'sk-of-the-documents',
  AZURE_OPENAI_API_KEY: 'azure-key-of-the-documents',
  ANTHROPIC_API_KEY: 'sk-ant-of-the-documents',
  GEMINI_API_KEY: 'gemini-key-of-the-documents',
  OPENROUTER_API_KEY: 'sk-or-v1-of-the-documents',
  VLLM_API_KEY: 'vllm-key-of-the-documents',
  LLAMA_API_KEY: 'llama-key-of-the-documents',
};

export async function openDocumentedWorld(root: string): Promise<DocumentedWorld> {
  const opened: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const undo of opened.splice(0).toReversed()) await undo();
  };
  const open = async <Thing extends { close(): Promise<void> }>(starting: Promise<Thing>) => {
    const thing = await starting;
    opened.push(() => thing.close());
    return thing;
  };
  try {
    const home = await mkdtemp(join(tmpdir(), 'model-gateway-docs-'));
    opened.push(() => rm(home, { recursive: true, force: true }));
    const data = await preparedDataDir();
    opened.push(() => data.remove());
    const upstreams = await openUpstreams(open);
    const service = await startService(data.path);
    opened.push(() => service.stop());
    const tools = join(home, 'bin');
    await writeProgram(
      join(tools, 'gateway'),
      `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'apps/cli/dist/main.js')}' "$@"\n`,
    );
    const places = placesOf(service, upstreams);
    return {
      environment: {
        PATH: [tools, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
        HOME: home,
        LANG: 'C.UTF-8',
        ...SECRETS,
      },
      translate: (text) => replaceEach(text, places),
      folder: () => readersFolder(root, home, data.path),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

type Open = <Thing extends { close(): Promise<void> }>(starting: Promise<Thing>) => Promise<Thing>;
type Upstreams = Awaited<ReturnType<typeof openUpstreams>>;

async function openUpstreams(open: Open) {
  return {
    openai: await open(
      startChatUpstream({
        models: ['gpt-4o-mini', 'gpt-4o', 'text-embedding-3-small'],
        apiKey: SECRETS.OPENAI_API_KEY,
      }),
    ),
    ollama: await open(
      startOllamaServer({ models: ['llama3.2:latest', 'nomic-embed-text:latest'] }),
    ),
    azure: await open(startProviderApi(PROVIDERS.azure, SECRETS.AZURE_OPENAI_API_KEY)),
    ...(await openNativeApis(open)),
    openRouter: await open(startProviderApi(PROVIDERS.openRouter, SECRETS.OPENROUTER_API_KEY)),
    vllmWithKey: await open(startProviderApi(PROVIDERS.vllm, SECRETS.VLLM_API_KEY)),
    llamaCpp: await open(startProviderApi(PROVIDERS.llamaCpp, SECRETS.LLAMA_API_KEY)),
    lmStudio: await open(startProviderApi(PROVIDERS.lmStudio, null)),
  };
}

/** The APIs of providers that are kinds of their own. */
async function openNativeApis(open: Open) {
  const anthropic = await open(startRecordedServer());
  const model = 'claude-sonnet-4-5';
  const listed = [model, 'claude-opus-4-8'].map((id) => ({ type: 'model', id }));
  anthropic.answer('/v1/models', { body: JSON.stringify({ data: listed, has_more: false }) });
  const content = [{ type: 'text', text: 'Hello!' }];
  const counts = { input_tokens: 3, output_tokens: 2 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model, content };
  anthropic.answer('/v1/messages', {
    body: JSON.stringify({ ...message, stop_reason: 'end_turn', usage: counts }),
  });
  const gemini = await open(startRecordedServer());
  const names = ['gemini-2.5-flash', 'gemini-embedding-001'];
  const models = names.map((name) => ({ name: `models/${name}` }));
  gemini.answer('/v1beta/models?', { body: JSON.stringify({ models }) });
  const parts = [{ text: 'Hello!' }];
  const candidates = [{ content: { role: 'model', parts }, finishReason: 'STOP' }];
  const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 2 };
  gemini.answer(':generateContent', {
    body: JSON.stringify({ candidates, usageMetadata, modelVersion: 'gemini-2.5-flash' }),
  });
  return { anthropic, gemini };
}

function startService(dataDir: string): Promise<TestProcess> {
  return startProcess({
    app: 'standalone',
    env: {
      PATH: process.env['PATH'] ?? '',
      SERVICE_DATA_DIR: dataDir,
      // Registering waits for the first probe, which is slow on a busy machine.
      SERVICE_PROBE_TIMEOUT_MS: '20000',
    },
    readyTimeoutMs: START_TIMEOUT_MS,
  });
}

/** Addresses in the documents, and the real ones here. */
function placesOf(
  service: TestProcess,
  upstreams: Upstreams,
): readonly (readonly [string, string])[] {
  const { openai, ollama } = upstreams;
  return [
    ['http://127.0.0.1:8080', service.url],
    ['localhost:8080', `127.0.0.1:${service.port}`],
    ['https://gateway.example.com', service.url],
    ['https://api.openai.com', openai.url],
    ['https://your-resource.openai.azure.com', upstreams.azure.url],
    ['https://api.anthropic.com', upstreams.anthropic.url],
    ['https://generativelanguage.googleapis.com', upstreams.gemini.url],
    ['https://openrouter.ai', upstreams.openRouter.url],
    ['http://127.0.0.1:8000', upstreams.vllmWithKey.url],
    ['http://127.0.0.1:8088', upstreams.llamaCpp.url],
    ['http://127.0.0.1:1234', upstreams.lmStudio.url],
    ['http://127.0.0.1:11434', ollama.url],
  ];
}

/** Replaces each written text by the real one, in one pass, so that a real address is never replaced again. */
function replaceEach(text: string, places: readonly (readonly [string, string])[]): string {
  const real = new Map(places);
  const written = [...real.keys()].map((place) => place.replaceAll('.', '\\.'));
  return text.replaceAll(new RegExp(written.join('|'), 'g'), (found) => real.get(found) ?? found);
}

async function readersFolder(root: string, home: string, dataDir: string): Promise<string> {
  const folder = await mkdtemp(join(home, 'reader-'));
  await symlink(dataDir, join(folder, '.data'));
  const modules = join(folder, 'node_modules');
  await makeDirectory(modules, 0o755);
  for (const [owner, name] of GUIDE_PACKAGES) {
    await makeDirectory(dirname(join(modules, name)), 0o755);
    await symlink(join(root, owner, 'node_modules', name), join(modules, name));
  }
  return folder;
}

async function writeProgram(path: string, text: string): Promise<void> {
  await makeDirectory(dirname(path), 0o755);
  await writeFile(path, text);
  await chmod(path, 0o755);
}
