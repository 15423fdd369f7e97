/** Whether npm or pnpm started this process. Separate from the other settings, because it is needed before they are loaded. */
export function isStartedByRunner(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): boolean {
  return environment['npm_lifecycle_event'] !== undefined;
}

/** The variables of this process, of which the processes that it starts get some. */
export const ownEnvironment = (): Readonly<Record<string, string | undefined>> => process.env;
