import { CliError } from '../cli-error.ts';

/** Where `npm start` listens. */
export const URL_DEFAULT = 'http://127.0.0.1:8080';

/** The base URL of a service, without a slash at the end. */
export function baseUrlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new CliError(
      'usage',
      `${JSON.stringify(text.slice(0, 200))} is not the address of a service`,
      'Use an address such as http://127.0.0.1:8080 or https://gateway.example.com',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new CliError(
      'usage',
      'the address of the service contains credentials',
      'Remove them and run: gateway login',
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}
