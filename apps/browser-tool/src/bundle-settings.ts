import { optional, setting, text } from '@model-gateway/kernel';

/** Which shared libraries are shipped with the tool. */
export const bundleSettings = {
  bundleLibs: setting('BROWSER_BUNDLE_LIBS', optional(text()), {
    description:
      'Shared libraries to ship, separated as in PATH; the build copies them to `dist/lib`.',
    defaultText: 'none',
  }),
  bundleManifest: setting('BROWSER_BUNDLE_MANIFEST', optional(text()), {
    description:
      'A TOML file of `[[lib]]` tables (`path`, `optional`, `target_os`) with more libraries to ship.',
    defaultText: 'none',
  }),
};
