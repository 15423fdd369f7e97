import manifest from '../package.json' with { type: 'json' };

/** The version of the service, shown in the health response and the API descriptions. */
export const SERVICE_VERSION: string = manifest.version;
