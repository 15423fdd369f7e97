/** Whether npm or pnpm started this process. Apart from the rest of the configuration, because it is needed at once. */
export function isStartedByRunner(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): boolean {
  return environment['npm_lifecycle_event'] !== undefined;
}
