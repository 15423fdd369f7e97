/** A model as `GET /v1/models` lists it. */
export interface ListedModel {
  readonly id: string;
  readonly owned_by: string;
  readonly alias_of?: string;
  /** `suggested` if no backend serves it yet. */
  readonly status?: string;
  readonly context_length?: number | null;
  /** USD per token, as text. */
  readonly pricing?: { readonly prompt?: string | null; readonly completion?: string | null };
}
