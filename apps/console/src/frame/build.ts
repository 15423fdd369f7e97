/** Whether the service has another build of the console than this page. A service that is away has none. */
export async function isNewBuild(): Promise<boolean> {
  const own = document.querySelector<HTMLMetaElement>('meta[name="build"]')?.content;
  try {
    const response = await fetch('/console/build.json', { cache: 'no-store' });
    if (!response.ok) return false;
    const { build } = (await response.json()) as { readonly build?: string };
    return build !== undefined && build !== own;
  } catch {
    return false;
  }
}

/** Whether the service answers at all. */
export const isReachable = (): Promise<boolean> =>
  fetch('/console/build.json', { cache: 'no-store' }).then(
    () => true,
    () => false,
  );
