import { randomUUID } from 'node:crypto';
import type { Log } from '@model-gateway/kernel';
import type { BrowserTool } from '../../app.ts';
import { ToolError } from '../../errors.ts';
import { createHttpSession, type HttpSession } from './http-session.ts';

/** The sessions of all clients, by their ids. */
export interface HttpSessions {
  readonly count: number;
  /** The session with this id; fails if there is none. */
  get(id: string): HttpSession;
  /** Creates a session for a client with this Accept header. At the limit, it replaces the one that is idle for the longest time. */
  open(accept: string | undefined): Promise<HttpSession>;
  /** Ends all sessions. */
  close(): Promise<void>;
}

interface SessionsOptions {
  readonly createTool: () => BrowserTool;
  readonly sessionsMax: number;
  readonly idleMs: number;
  readonly log: Log;
}

export function createHttpSessions({
  createTool,
  sessionsMax,
  idleMs,
  log,
}: SessionsOptions): HttpSessions {
  const sessions = new Map<string, HttpSession>();
  const endings = new Set<Promise<void>>();
  let isClosed = false;

  /** Makes room for one more session. */
  function makeRoom(): Promise<void> | undefined {
    if (sessions.size < sessionsMax) return undefined;
    const [longestIdle] = [...sessions.values()]
      .filter(({ idleSince }) => idleSince !== undefined)
      .toSorted((one, other) => (one.idleSince ?? 0) - (other.idleSince ?? 0));
    if (longestIdle === undefined) throw tooMany(sessionsMax);
    return longestIdle.end('another client needed its place');
  }

  return {
    get count() {
      return sessions.size;
    },
    get(id) {
      const session = sessions.get(id);
      if (session === undefined) throw notFound();
      return session;
    },
    async open(accept = '') {
      if (isClosed) throw new ToolError('BROWSER_CRASHED', 'The tool is shutting down.');
      const replaced = makeRoom();
      const id = randomUUID();
      const session = createHttpSession({
        id,
        tool: createTool(),
        isJson: !accept.toLowerCase().includes('text/event-stream'),
        idleMs,
        log,
        onEnd: (ended) => {
          sessions.delete(id);
          endings.add(ended);
          void ended.then(() => endings.delete(ended));
        },
      });
      sessions.set(id, session);
      await replaced;
      return session;
    },
    async close() {
      isClosed = true;
      for (const session of sessions.values()) void session.end('the server stops');
      await Promise.all(endings);
    },
  };
}

function notFound(): ToolError {
  return new ToolError('SESSION_NOT_FOUND', 'There is no session with this Mcp-Session-Id.', {
    hint: 'It has ended, or another server started it: send initialize without the header to start a new one.',
  });
}

function tooMany(sessionsMax: number): ToolError {
  return new ToolError('LIMIT_REACHED', `All ${sessionsMax} sessions are in use.`, {
    hint: 'Disconnect a client, or raise BROWSER_MCP_SESSIONS_MAX.',
    details: { sessions_max: sessionsMax },
  });
}
