/** How a backend's circuit stands: closed lets every request through, open none, half-open one. */
export type CircuitState = 'closed' | 'open' | 'half-open';

/** A circuit as a store keeps it. Times are what is left of them, so that the clocks of processes need not agree. */
export interface Circuit {
  /** Failed requests in a row. */
  readonly failures: number;
  /** Undefined while it is closed, 0 when the open time is over. */
  readonly openForMs: number | undefined;
  /** The one test call that is under way. */
  readonly trial: CircuitTrial | undefined;
}

export interface CircuitTrial {
  readonly token: string;
  /** After this it no longer keeps others from trying: whoever took it may be dead. */
  readonly forMs: number;
}

export interface CircuitRules {
  readonly failuresMax: number;
  readonly openMs: number;
  readonly trialMs: number;
}

/** Where the circuits of all processes are kept. Each call is one step and answers what the circuit is after it. */
export interface CircuitStore {
  read(name: string): Promise<Circuit>;
  /** Counts a failed request. While the circuit is not closed only the failure of its trial counts, and opens it anew. */
  failed(name: string, rules: CircuitRules, trialToken?: string): Promise<Circuit>;
  /** Ends the row of failures. While the circuit is not closed only the success of its trial counts, and closes it. */
  succeeded(name: string, trialToken?: string): Promise<Circuit>;
  /** Takes the one test call when the open time is over and nobody else has it: then the trial has this token. */
  takeTrial(name: string, trialToken: string, rules: CircuitRules): Promise<Circuit>;
  /** Gives the test call back without a result. */
  releaseTrial(name: string, trialToken: string): Promise<Circuit>;
  /** Forgets the circuit: it is closed. */
  remove(name: string): Promise<void>;
}

/** The circuit of a backend that has not failed lately. */
export const CLOSED_CIRCUIT: Circuit = { failures: 0, openForMs: undefined, trial: undefined };
