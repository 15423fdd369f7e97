/** One running call of the tool. */
export interface EngineCall {
  /** Aborted at the deadline, when the caller disconnects, and when the process ends; its reason is thrown. */
  readonly signal: AbortSignal;
  /** How dialogs are answered while this call runs. */
  readonly dialog: 'accept' | 'dismiss' | undefined;
  readonly promptText: string | undefined;
}
