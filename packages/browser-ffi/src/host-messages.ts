/** A request of the tool to the process that runs the engine's library. */
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

/** Why an engine could not be opened. */
export type OpenProblem = 'not-loaded' | 'wrong-abi' | 'not-created';

/** The response to a request. */
export type HostResponse =
  | { readonly status: number; readonly json: string | null; readonly bytes?: Uint8Array }
  | { readonly problem: OpenProblem; readonly message: string };

/** From the tool to the host. */
export interface NumberedRequest {
  readonly id: number;
  readonly request: HostRequest;
}

/** From the host to the tool: a response, or the JSON of an engine's event. */
export type HostMessage =
  | { readonly id: number; readonly response: HostResponse }
  | { readonly event: string };

/** The return value of a call that the engine does not support. */
export const NOT_SUPPORTED = 2;
