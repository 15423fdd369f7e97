/** The state of a circuit: closed lets every request through, open none, half-open one. */
export type CircuitState = 'closed' | 'open' | 'half-open';

/** A circuit as it is stored. Times are remaining times, so that the clocks of processes need not agree. */
export interface Circuit {
  /** Failed requests in a row. */
  readonly failures: number;
  /** After this time without a failure those of a closed circuit are forgotten; undefined while it is not closed. */
  readonly forgottenInMs: number | undefined;
  /** Undefined while it is closed, 0 when the open time is over. */
  readonly openForMs: number | undefined;
  /** The test call in progress. */
  readonly trial: CircuitTrial | undefined;
}

export interface CircuitTrial {
  readonly token: string;
  /** After this time others may try: the process with the test call may have died. */
  readonly forMs: number;
}

export interface CircuitRules {
  readonly failuresMax: number;
  /** Also how long the failures of a closed circuit count. */
  readonly openMs: number;
  readonly trialMs: number;
}

/** Stores the circuits of all processes. Each call is atomic and returns the new state of the circuit. */
export interface CircuitStore {
  read(name: string): Promise<Circuit>;
  /** Counts a failed request. While the circuit is not closed only the failure of its trial counts, and opens it anew. */
  failed(name: string, rules: CircuitRules, trialToken?: string): Promise<Circuit>;
  /** Resets the failures. While the circuit is not closed only the success of its trial counts, and closes it. */
  succeeded(name: string, trialToken?: string): Promise<Circuit>;
  /** Starts the test call when the open time is over and there is none: then the trial has this token. */
  takeTrial(name: string, trialToken: string, rules: CircuitRules): Promise<Circuit>;
  /** Ends the test call without a result. */
  releaseTrial(name: string, trialToken: string): Promise<Circuit>;
  /** Deletes the circuit: it is closed. */
  remove(name: string): Promise<void>;
}

/** The circuit of a backend without recent failures. */
export const CLOSED_CIRCUIT: Circuit = {
  failures: 0,
  forgottenInMs: undefined,
  openForMs: undefined,
  trial: undefined,
};
