/** What the tool asks the process for that holds the engine's library. */
export type HostRequest =
  | {
      readonly kind: 'open';
      readonly library: string;
      readonly backend: string;
      readonly options: EngineOptions;
    }
  | { readonly kind: 'navigate'; readonly url: string }
  | { readonly kind: 'evaluate'; readonly source: string }
  | { readonly kind: 'screenshot'; readonly params: string }
  | { readonly kind: 'call'; readonly method: string; readonly params: string }
  | { readonly kind: 'close' };

/** The options of `browser_engine_new`. */
export interface EngineOptions {
  readonly url: string;
  readonly proxy: string | null;
  readonly viewport: { readonly width: number; readonly height: number };
  readonly user_data_dir: string;
}

/** Why an engine did not come up, before there is any call that could fail. */
export type OpenProblem = 'not-loaded' | 'wrong-abi' | 'not-created';

/** What came of a request. */
export type HostResponse =
  | { readonly status: number; readonly json: string | null; readonly bytes?: Uint8Array }
  | { readonly problem: OpenProblem; readonly message: string };

/** From the tool to the host. */
export interface NumberedRequest {
  readonly id: number;
  readonly request: HostRequest;
}

/** From the host to the tool: an answer, or an event of the engine in its own words. */
export type HostMessage =
  | { readonly id: number; readonly answer: HostResponse }
  | { readonly event: string };

/** Return value of a call that the engine does not know. */
export const NOT_SUPPORTED = 2;
