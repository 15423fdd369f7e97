const PLAIN = /^[\x20-\x7e]+$/;

/** The header that says which backend served a request; a name that does not fit into one is percent-encoded. */
export const backendHeader = (backend: string): readonly [string, string] => [
  'x-service-backend',
  PLAIN.test(backend) ? backend : encodeURIComponent(backend),
];
