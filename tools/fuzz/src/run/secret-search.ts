/** Finds the secrets of a run in texts. */
export interface SecretSearch {
  add(name: string, secret: string): void;
  /** The names of the secrets that a text contains. */
  namesIn(text: string): readonly string[];
}

export function createSecretSearch(): SecretSearch {
  const secrets = new Map<string, string>();
  return {
    add: (name, secret) => void secrets.set(name, secret),
    namesIn: (text) =>
      [...secrets].flatMap(([name, secret]) => (text.includes(secret) ? [name] : [])),
  };
}
