/** The version of the service, shown by the health answer and the API descriptions. */
export const SERVICE_VERSION = '0.1.0';
