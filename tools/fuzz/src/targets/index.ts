import type { Target } from '../target.ts';
import { agent } from './agent.ts';
import { browser } from './browser.ts';
import { browserMcp } from './browser-mcp.ts';
import { dialects } from './dialects.ts';
import { nodeAnswers } from './node-answers.ts';
import { rest } from './rest.ts';
import { rpcHttp } from './rpc-http.ts';
import { rpcSocket } from './rpc-socket.ts';
import { signIn } from './sign-in.ts';
import { uploads } from './uploads.ts';
import { upstreamEngine } from './upstream-engine.ts';
import { upstreamHttp } from './upstream-http.ts';
import { upstreamNative } from './upstream-native.ts';
import { upstreamRealtime } from './upstream-realtime.ts';
import { upstreamVideo } from './upstream-video.ts';

/** Every target, in the order in which they run. */
export const targets = [
  rpcHttp,
  rpcSocket,
  rest,
  dialects,
  uploads,
  signIn,
  agent,
  nodeAnswers,
  upstreamHttp,
  upstreamNative,
  upstreamEngine,
  upstreamVideo,
  upstreamRealtime,
  browser,
  browserMcp,
] as readonly unknown[] as readonly Target[];
