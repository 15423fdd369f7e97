interface BannerFacts {
  readonly baseUrl: string;
  readonly adminToken: AdminToken;
  readonly demo: boolean;
  /** Whether anybody can make an account. */
  readonly registrationOpen: boolean;
  readonly stores: string;
}

/** The admin token, and what may be said about it. */
export type AdminToken =
  | { readonly kind: 'configured' }
  | { readonly kind: 'kept'; readonly file: string }
  /** Made by this very start: shown this once. */
  | { readonly kind: 'created'; readonly file: string; readonly value: string };

/** What a person reads when the service is up. */
export function banner(facts: BannerFacts): string {
  const { baseUrl, adminToken, demo, registrationOpen, stores } = facts;
  return [
    '',
    'Model Gateway is up.',
    '',
    `  Base URL     ${baseUrl}`,
    `  API docs     ${baseUrl}/docs`,
    `  Stores       ${stores}`,
    ...adminTokenLines(adminToken),
    '',
    ...(demo
      ? firstChat(baseUrl, registrationOpen)
      : ['Register a backend to get a first answer: see docs/quick-start.md.']),
    '',
    'Ctrl-C stops everything.',
    '',
    '',
  ].join('\n');
}

function adminTokenLines(token: AdminToken): readonly string[] {
  if (token.kind === 'configured') return ['  Admin token  as set in SERVICE_ADMIN_TOKEN'];
  const kept = `  Admin token  kept in ${token.file}`;
  return token.kind === 'kept'
    ? [kept]
    : [kept, `               ${token.value}  (shown this once)`];
}

function firstChat(baseUrl: string, registrationOpen: boolean): readonly string[] {
  return [
    registrationOpen
      ? 'A first chat, ready to paste (registers an account, makes a key, asks the demo model):'
      : 'Nobody can register (SERVICE_REGISTRATION_OPEN). A first chat, with a key that there is:',
    '',
    `  BASE=${baseUrl}`,
    ...(registrationOpen ? NEW_KEY : ['  KEY=service-…']),
    `  curl -sN $BASE/v1/chat/completions -H 'content-type: application/json' -H "authorization: Bearer $KEY" -d '{"model":"demo-chat","stream":true,"messages":[{"role":"user","content":"Hello!"}]}'`,
  ];
}

/** Lines of a shell that register an account and make a key. */
const NEW_KEY = [
  `  EMAIL=you-$(date +%s)@example.com; PASSWORD=$(head -c 12 /dev/urandom | base64); echo "$EMAIL signs in with $PASSWORD"`,
  `  TOKEN=$(curl -s $BASE/api/rpc -H 'content-type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"auth.register","params":{"email":"'"$EMAIL"'","password":"'"$PASSWORD"'"}}' | sed -n 's/.*"access_token":"\\([^"]*\\)".*/\\1/p')`,
  `  KEY=$(curl -s $BASE/api/rpc -H 'content-type: application/json' -H "authorization: Bearer $TOKEN" -d '{"jsonrpc":"2.0","id":2,"method":"keys.create","params":{"name":"first key"}}' | sed -n 's/.*"key":"\\([^"]*\\)".*/\\1/p')`,
];
