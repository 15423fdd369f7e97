const PLAIN = /^[\x20-\x7e]+$/;

/** The headers that say what served a request; a name that does not fit into one is percent-encoded. */
export function routeHeaders({ backend, model }: Served): readonly string[] {
  const name = plain(backend);
  return ['x-service-backend', name, 'x-service-route', `${plain(model)}@${name}`];
}

interface Served {
  readonly backend: string;
  /** As the backend lists it. */
  readonly model: string;
}

const plain = (text: string): string => (PLAIN.test(text) ? text : encodeURIComponent(text));
