import type { ErrorCode } from './errors.ts';

/** Why an error happens and what to do about it, for the person who reads it. */
export interface ErrorHelp {
  readonly cause: string;
  readonly remedy: string;
}

/** Every error of the service. The error reference is generated from it. */
export const ERROR_HELP: Readonly<Record<ErrorCode, ErrorHelp>> = {
  invalid_body: {
    cause: 'The request has no body, and the route needs one.',
    remedy: 'Send a JSON object; `{}` is one.',
  },
  invalid_json: {
    cause: 'The body is not JSON.',
    remedy: 'Check quotes and commas; the body must be one JSON value in UTF-8.',
  },
  invalid_request: {
    cause: 'The request has a form that no method or route takes.',
    remedy: 'The message names what is wrong; compare with the reference of the method or route.',
  },
  missing_fields: {
    cause: 'A field is missing or has an invalid value.',
    remedy: 'The message names the first field and what it must be; correct it and send again.',
  },
  invalid_value: {
    cause: 'A number of the request is not finite, or outside of the range of its field.',
    remedy:
      'The message and `param` name the field and what it must be; correct it and send again.',
  },
  missing_index: {
    cause: 'A backend is to be removed without its index.',
    remedy: 'Send `index` from `GET /api/admin/backends`, or use the routes by name.',
  },
  missing_alias: {
    cause: 'An alias is to be changed without its name.',
    remedy: 'Send `alias`, the name that clients use.',
  },
  missing_target: {
    cause: 'An alias is to be set without the model that it stands for.',
    remedy: 'Send `target`, the model that serves the alias.',
  },
  in_configuration_file: {
    cause:
      'A call would change something that comes from the configuration file (`SERVICE_CONFIG`).',
    remedy: 'Change it in the file and reload the file, or leave it out of the file first.',
  },
  bad_ref: {
    cause: 'The header `x-service-ref` has more than 64 characters.',
    remedy: 'Send a shorter reference.',
  },
  bad_session: {
    cause: 'The session is missing or has invalid characters.',
    remedy: 'Send `session`, or the header `x-session-id`, as the guide of event streams says.',
  },
  bad_since: {
    cause: '`since` is not a time.',
    remedy: 'Use a day such as `2026-01-31`, or a time such as `2026-01-31T00:00:00Z`.',
  },
  bad_until: {
    cause: '`until` is not a time.',
    remedy: 'Use a day such as `2026-01-31`, or a time such as `2026-01-31T00:00:00Z`.',
  },
  bad_group_by: {
    cause: '`group_by` is not a field by which usage can be grouped.',
    remedy: 'Use one of the fields that the message lists.',
  },
  bad_id: {
    cause: 'An id does not have the form of one.',
    remedy: 'Use the id as an earlier answer had it.',
  },
  bad_extra: {
    cause: '`extra` has a field that the service decides itself.',
    remedy: 'Remove the field that the message names.',
  },
  request_too_large: {
    cause: 'The body is larger than allowed, or has very many or deeply nested values.',
    remedy: 'Send less, or raise `SERVICE_MAX_BODY_BYTES` here and the limit of your proxy.',
  },
  unsupported_encoding: {
    cause: 'The body has a `content-encoding` that the service cannot read.',
    remedy: 'Send it without compression, or with gzip, deflate or br.',
  },
  not_found: {
    cause: 'There is no such route or object, or it is not yours.',
    remedy:
      'Check the path and the id; a path of another process needs the address of that process.',
  },
  method_not_allowed: {
    cause: 'The route or method exists, but not in this form.',
    remedy: 'Use an HTTP method that the header `allow` lists, or a method of `rpc.discover`.',
  },
  unsupported_tool: {
    cause: 'The request demands a tool that the service of the original API runs itself.',
    remedy: 'Leave the choice to the model, or offer a function tool; the gateway runs no tools.',
  },
  unsupported_thread: {
    cause:
      'The request has `thread`: it asks the service to hold the conversation, or continues one.',
    remedy:
      'Send the whole conversation in `messages`, without `thread`; tool runners do so by themselves.',
  },
  previous_response_not_found: {
    cause:
      '`previous_response_id` names no stored response of this user: it was deleted, expired, or created with `store: false`.',
    remedy: 'Send the earlier items in `input`, or continue from a response that is stored.',
  },
  context_too_large: {
    cause:
      'The stored items that the request continues or references are larger together than a request may be.',
    remedy:
      'Continue from an earlier response, or send a shorter history in `input`. An operator raises the limit with `SERVICE_MAX_BODY_BYTES`.',
  },
  authentication_required: {
    cause: 'The request has no valid credential.',
    remedy:
      'On `/v1` it is plain text, or `invalid_api_key` in the form of OpenAI (`SERVICE_ERRORS`). Send `Authorization: Bearer …`: an API key on `/v1`, an access token of `auth.login` on `/api/rpc`. Access tokens last 15 minutes; `auth.refresh` makes a new one.',
  },
  invalid_credentials: {
    cause:
      'The email, the password, the key or the token is mistyped, revoked or expired, or the account was deactivated.',
    remedy: 'Sign in again, or create a new key; `keys.list` shows which keys are active.',
  },
  admin_token_required: {
    cause: 'The admin API takes the admin token only.',
    remedy:
      'Use `SERVICE_ADMIN_TOKEN`, or the generated one in `secrets/admin-token` of the data directory.',
  },
  admin_required: {
    cause: 'Only an admin of the platform may do this.',
    remedy: 'Sign in with the first account, or use the admin token.',
  },
  session_forbidden: {
    cause: 'The session belongs to another user.',
    remedy: 'Use a session id of your own.',
  },
  model_not_allowed: {
    cause: 'The rules of the key or of its group do not allow the model.',
    remedy: 'Use another model, or ask an admin of the group to change its model rules.',
  },
  address_not_allowed: {
    cause: 'The key may be used from other addresses only.',
    remedy:
      'Send the request from one of them, or change the list with `keys.update`. Behind a proxy, `SERVICE_TRUST_PROXY` has to name it.',
  },
  conversation_forbidden: {
    cause: 'The conversation belongs to another user.',
    remedy: 'Use a conversation of your own; `conversations.list` has them.',
  },
  conversation_not_found: {
    cause: 'There is no such conversation.',
    remedy: 'Use an id of `conversations.list`, or leave it out to begin a new one.',
  },
  email_taken: {
    cause: 'There is an account with this email.',
    remedy: 'Sign in with `auth.login` instead.',
  },
  origin_not_allowed: {
    cause: 'A web page of another origin has sent the request.',
    remedy:
      'Add the origin of the page to `SERVICE_CORS_ORIGINS`, or send the request from a server.',
  },
  registration_closed: {
    cause: 'Registration is closed (`SERVICE_REGISTRATION_OPEN=false`).',
    remedy: 'Ask the operator for an invitation or an account.',
  },
  sign_in_refused: {
    cause: 'The identity provider refused the sign-in, or the account may not sign in here.',
    remedy:
      'The message says why: an email address that is not verified, of another domain or of another person, or a deactivated account.',
  },
  account_exists: {
    cause:
      'An account with a password has the email of the person whom the identity provider signs in, and is not linked to them.',
    remedy:
      'Give the password of the account once, as the answer says. Without it, an admin makes a link for a new password or lets the person take the account over (`users.update` with `provider_claim`).',
  },
  identity_provider_unavailable: {
    cause: 'The identity provider (`SERVICE_OIDC_ISSUER`) does not answer.',
    remedy: 'Try again later, or sign in with a password; the log has the reason.',
  },
  too_many_login_attempts: {
    cause: 'Too many logins have failed for this account or from this address.',
    remedy: 'Wait as long as `retry_after_secs` says.',
  },
  provider_exists: {
    cause: 'There is a provider of this name.',
    remedy: 'Use another name, or change the one that exists.',
  },
  provider_built_in: {
    cause: 'The provider is part of the service and cannot be changed.',
    remedy: 'Create one of another name.',
  },
  group_id_taken: {
    cause: 'There is a group with this id.',
    remedy: 'Use another id.',
  },
  member_protected: {
    cause: 'The member is the owner, or has a role that you may not change.',
    remedy: 'Ask the owner of the group.',
  },
  account_protected: {
    cause:
      'The account is the last active admin, or it is deactivated or erased and the call needs an active one.',
    remedy: 'Make another account an admin first, or activate the account: `users.update`.',
  },
  invitation_refused: {
    cause: 'The invitation is unknown, used, expired, or for another email.',
    remedy: 'Ask for a new one and accept it with the account that it names.',
  },
  movement_refused: {
    cause: 'The account does not have the points that the movement takes.',
    remedy: 'Move fewer points, or add some first.',
  },
  rate_limit_exceeded: {
    cause: 'More requests than the limit that the message names allows.',
    remedy:
      'Wait as long as `retry-after` says, or raise the limit: the tier of the account (an admin: `gateway plan set <email> enterprise`), the limits of the key (`gateway keys update "my key" --rpm 100`), the ceiling of the group, `SERVICE_RPC_CALLS_PER_USER` for RPC calls at a time, or, where the answer is plain text or names it, `SERVICE_API_RATE_LIMIT_RPM`. Where the message names an upstream, register another backend for the model.',
  },
  quota_exceeded: {
    cause: 'The monthly quota of the plan is used up.',
    remedy:
      'Ask an admin for a larger tier (`gateway plan set <email> enterprise`) or for points; otherwise it ends with the month. `gateway plan show` shows what is left.',
  },
  quota_reserved: {
    cause: 'Requests in progress reserve the rest of the monthly quota.',
    remedy: 'Try again in a few seconds, or send fewer requests at a time.',
  },
  payment_required: {
    cause: 'The points and the monthly quota are used up.',
    remedy:
      'Ask an admin for a larger tier (`gateway plan set <email> enterprise`) or for points (`group.credits.topup`, `group.credits.allocate`); otherwise it ends with the month.',
  },
  budget_exceeded: {
    cause: 'The budget of the key is spent.',
    remedy:
      'Its owner raises it (`gateway keys update "my key" --budget 20`); use another key, or wait until the period ends. `keys.list` shows both.',
  },
  budget_reserved: {
    cause: 'Requests in progress reserve the rest of the budget of the key.',
    remedy: 'Try again in a few seconds, or send fewer requests at a time.',
  },
  storage_full: {
    cause: 'The conversations of the user take as many bytes as are stored for a user.',
    remedy:
      'Delete conversations (`conversations.delete`), or send the messages without `conversation_id`. An operator raises the limit with `SERVICE_STORED_BYTES_PER_USER`.',
  },
  unknown_type: {
    cause: 'The service does not know backends of this type.',
    remedy: 'Use one of the types that the message lists.',
  },
  bad_url: {
    cause: 'The URL of the backend has the wrong scheme or form.',
    remedy: 'Use the form that the guide of this kind of backend shows.',
  },
  model_not_found: {
    cause: 'No backend lists the model, or none that `provider` allows.',
    remedy:
      '`GET /v1/models` lists what is served; register a backend that has the model, or correct its name.',
  },
  all_backends_unhealthy: {
    cause: 'No backend that has the model can be reached.',
    remedy:
      '`GET /api/admin/backends` has the state of each, the reason and what to do about it; start or repair one of them.',
  },
  unsupported_operation: {
    cause: 'No backend of the model supports this kind of request.',
    remedy:
      'Use a model whose `capabilities` include it, or add it to the `capabilities` of its backend.',
  },
  bad_gateway: {
    cause: 'The upstream refused the request, or the connection to it failed.',
    remedy:
      '`error.upstream` has the answer of the upstream; without it, check that the gateway can reach the backend. Clients of OpenAI get a 4xx of the upstream as such; `x-service-errors: upstream` or `SERVICE_ERRORS=openai` does that for others.',
  },
  upstream_auth: {
    cause: 'The upstream does not accept the key of the backend.',
    remedy:
      'Set a valid `api_key` for the backend: `PATCH /api/admin/backends/by-name/{name}`; `POST …/test` tries it.',
  },
  bridge_unreachable: {
    cause: 'The bridge to the backend cannot be reached.',
    remedy: 'Check that the bridge runs and that its address is right.',
  },
  agent_unavailable: {
    cause: 'The GPU node is not connected, or does not serve the model.',
    remedy: 'Check that its agent runs; `agents.list` shows which nodes are online.',
  },
  no_job: {
    cause: 'There is no such video job, or it is not yours.',
    remedy: 'Use the id that the creation of the job returned.',
  },
  no_video_backend: {
    cause: 'No backend can make videos with the model.',
    remedy: 'Register a backend that can, or use another model.',
  },
  job_ended: {
    cause: 'The video job has ended and cannot be changed.',
    remedy: 'Create a new one.',
  },
  idempotency_conflict: {
    cause: 'The `idempotency-key` was used before for a video with another body.',
    remedy: 'Send the same body to get the earlier job, or another key for another video.',
  },
  store_unavailable: {
    cause: 'Postgres cannot be reached, or usage can be written neither to Redis nor to the disk.',
    remedy:
      'Try again as `retry-after` says. For the operator: `/healthz` shows the state of the stores; `remedy` in the log says what to do, such as free space on a disk that is full.',
  },
  overloaded: {
    cause:
      'Large request bodies, or large answers of upstreams, take all the memory that they may take together.',
    remedy:
      'Try again as `retry-after` says. The operator can raise `SERVICE_REQUEST_BODIES_BYTES_MAX` or `SERVICE_UPSTREAM_ANSWERS_BYTES_MAX`, whichever the message names, where there is memory, or add a replica.',
  },
  internal_error: {
    cause: 'The service failed; the text is in its log.',
    remedy: 'Look up the `x-request-id` of the answer in the log, and report it.',
  },
};
