/** A model that is tried when those before it cannot answer. */
export interface FallbackModel {
  readonly model: string;
  /** The target of its alias. */
  readonly resolved: string;
}
