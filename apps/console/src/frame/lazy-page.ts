import { lazyRouteComponent } from '@tanstack/react-router';
import { isReachable } from './build.ts';

const AGAIN_MS = 2000;

/**
 * As `lazyRouteComponent`, which loads the whole page anew where the script of a component is missing: it may be of an earlier
 * build. While the service is away that would leave nothing but an error of the browser, so the page before stays until it is
 * back.
 */
export const lazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(async () => {
    for (;;) {
      try {
        return await load();
      } catch (error) {
        if (await isReachable()) throw error;
        await new Promise((later) => {
          setTimeout(later, AGAIN_MS);
        });
      }
    }
  }, name);
