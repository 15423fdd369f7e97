import type { ErrorHelp } from './error-help.ts';

interface BackendHelp extends ErrorHelp {
  /** Which reasons of a state it explains. */
  readonly reason: RegExp;
  readonly state?: string;
}

/** Why a backend is not healthy and what to do, the most specific first. Troubleshooting lists it. */
export const BACKEND_HELP = {
  key_refused: {
    reason: /\b40[13]\b/,
    cause: 'The upstream does not accept the key of the backend.',
    remedy: 'check the api_key of the backend',
  },
  not_listed: {
    reason: /listing answered \d/,
    cause: 'The address answers, but does not list models.',
    remedy: 'check the url of the backend, which must be the base of its API, or name its models',
  },
  no_models: {
    reason: /no models/,
    cause: 'The server answers and has no model.',
    remedy:
      'load a model on the server, or name its models in the registration, which a local-server ignores',
  },
  unreachable: {
    state: 'Unhealthy',
    reason: /^(?!not probed yet)/,
    cause: 'No server responds at the address of the backend.',
    remedy: 'start the server, or correct the url of the backend so that this machine reaches it',
  },
} as const satisfies Readonly<Record<string, BackendHelp>>;

/** The reason of a state with what to do about it. */
export function explainedReason(state: string, reason: string): string {
  const helps: readonly BackendHelp[] = Object.values(BACKEND_HELP);
  const help = helps.find(
    (one) => one.reason.test(reason) && (one.state === undefined || one.state === state),
  );
  return help === undefined || reason.includes(help.remedy) ? reason : `${reason}; ${help.remedy}`;
}
