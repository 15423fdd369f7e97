import manifest from '../package.json' with { type: 'json' };

/** The version that `gateway --version` prints. */
export const CLI_VERSION: string = manifest.version;
