/** The version of the service, shown in the health response and the API descriptions. */
export const SERVICE_VERSION = '0.1.0';
