/** An HTTP answer with a JSON body. */
export interface ProviderAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** What distinguishes the chat-completions API of a provider from the convention. */
export interface Provider {
  /** What comes before `/chat/completions`. */
  readonly basePath: string;
  /** The headers that may carry the key, and the text before it. */
  readonly keyHeaders: Readonly<Record<string, string>>;
  /** The models that answer. */
  readonly models: readonly string[];
  readonly listing: ProviderAnswer;
  /** Whether the listing needs no key. */
  readonly isListingPublic: boolean;
  readonly wrongKey: ProviderAnswer;
  readonly unknownPath: ProviderAnswer;
  unknownModel(model: string): ProviderAnswer;
}
