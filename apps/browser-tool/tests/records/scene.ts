import { WebSocketServer } from 'ws';
import { startSite, type Site } from '../site.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';
import { PAGES } from './pages.ts';
import { createSteady } from './steady.ts';

// What both faces answer to each command and each kind of error, compared with what was recorded.
// `TEST_RECORD=1 npm test -- apps/browser-tool/tests/records` records it anew.

/** A tool, its pages, and the answers that a test notes. */
export interface RecordScene {
  readonly site: Site;
  readonly tool: ToolUnderTest;
  readonly socketPort: number;
  /** Notes an answer under its question, which may be asked more than once. */
  note(question: string, answer: unknown): void;
  /** The noted answers; the next ones are noted anew. */
  take(): ReadonlyMap<string, unknown>;
  /** Leaves out the last answer. */
  forgetLast(): void;
  refOf(selector: string): Promise<string>;
  close(): Promise<void>;
}

export const recorded = (name: string): URL => new URL(`recorded/${name}.jsonl`, import.meta.url);
export const FULL = { isReadable: () => true };

/** Starts the site, its WebSocket server and the tool. */
export async function openScene(): Promise<RecordScene> {
  const site = await startSite(PAGES);
  const sockets = new WebSocketServer({ port: 0 });
  sockets.on('connection', (socket) => socket.on('message', () => socket.send('answer')));
  const tool = await startTool();
  const { port: socketPort } = sockets.address() as { readonly port: number };
  const ports = { SITE: site.port, TOOL: tool.port, SOCKETS: socketPort };
  let steady = createSteady(ports);
  let answers = new Map<string, unknown>();
  return {
    site,
    tool,
    socketPort,
    note(question, answer) {
      const text = String(steady(question));
      const times = [...answers.keys()].filter(
        (each) => each.replace(/ \(\d+\)$/, '') === text,
      ).length;
      answers.set(times === 0 ? text : `${text} (${times + 1})`, steady(answer));
    },
    take() {
      const taken = answers;
      answers = new Map();
      steady = createSteady(ports);
      return taken;
    },
    forgetLast: () => void answers.delete([...answers.keys()].at(-1) ?? ''),
    async refOf(selector) {
      const { data } = await tool.get(`/dom?selector=${encodeURIComponent(selector)}`);
      return data.ref as string;
    },
    async close() {
      await tool.close();
      sockets.close();
      await site.close();
    },
  };
}
