import { flag, loadConfig, setting, withDefault } from '@model-gateway/kernel';

const settings = {
  isFull: setting('TEST_FULL', withDefault(flag(), false), {
    description:
      'Whether tests that repeat themselves do so at full size; set by `npm run test:full`.',
  }),
};

/** How often a test repeats something: `small` in every run, `full` with `npm run test:full`. */
export const fullSize = (full: number, { small }: { readonly small: number }): number =>
  loadConfig(settings, process.env).isFull ? full : small;
