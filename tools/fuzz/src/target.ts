import type { Arbitrary } from 'fast-check';
import type { SecretSearch } from './run/secret-search.ts';
import type { ScriptedUpstreams } from './scenes/scripted-upstreams.ts';
import type { WatchedProcess } from './scenes/watched-process.ts';

/** One protocol of the service: what is sent, and what must hold of the answers. */
export interface Target<Case = unknown, Scene extends AnyScene = AnyScene> {
  readonly name: string;
  /** One line for `--help`. */
  readonly about: string;
  readonly scene: Scene['kind'];
  /** How many cases run with `TEST_FULL=1`; `npm test` runs a sixth of them. */
  readonly shortCases: number;
  /** The grammar. A case is plain JSON, so that the corpus can keep it. */
  cases(scene: Scene): Promise<Arbitrary<Case>>;
  /** Runs one case and returns what was wrong. */
  run(each: Case, scene: Scene): Promise<readonly string[]>;
}

/** What a process tells about itself. */
export interface Measured {
  /** For how long one piece of work kept its event loop busy since the last call, in CPU time. */
  readonly busyMs: number;
  /** Whether the prototype of objects has changed. */
  readonly isPolluted: boolean;
}

/** What runs while cases are sent to it. */
interface Running extends WatchedProcess {
  /** Replaces `{{name}}` in a case. */
  readonly values: Readonly<Record<string, string>>;
  readonly secrets: SecretSearch;
}

/** The server apps, with scripted upstreams, users and a node. */
export interface ServiceScene extends Running {
  readonly kind: 'service';
  readonly restUrl: string;
  readonly rpcUrl: string;
  readonly tunnelUrl: string;
  readonly upstreams: ScriptedUpstreams;
  /** Removes the backends that a case registered, and registers those that it removed. */
  restoreBackends(): Promise<void>;
  /** Removes the routes and aliases that cases gave to the models of the upstreams. */
  restoreRouting(): Promise<void>;
}

/** The HTTP API of the browser tool. */
export interface BrowserScene extends Running {
  readonly kind: 'browser';
  readonly url: string;
}

/** The MCP server of the browser tool over HTTP. */
export interface BrowserMcpScene extends Running {
  readonly kind: 'browser-mcp';
  readonly url: string;
}

export type AnyScene = ServiceScene | BrowserScene | BrowserMcpScene;
